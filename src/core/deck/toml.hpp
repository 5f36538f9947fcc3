#pragma once
// toml++ is compiled once, in toml.cpp.
#define TOML_HEADER_ONLY 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
