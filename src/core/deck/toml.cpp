#define TOML_IMPLEMENTATION
#include "core/deck/toml.hpp"
