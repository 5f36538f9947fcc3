#pragma once
#include "core/error.hpp"
#include "driver_main.hpp"

namespace scree {

/// The program scree but for its verb `bench`, as a function: reads the command line and does what it says.
/// May be called more than once in a process. To be called on all ranks; throws as driver_main() expects.
ExitCode scree_main(Ranks& ranks, int argc, char** argv);

}  // namespace scree
