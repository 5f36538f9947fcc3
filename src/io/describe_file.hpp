#pragma once
#include <string>

#include "core/parallel.hpp"

namespace scree {

/// What a checkpoint, an H5MD or FCLIB file or a .pvd index holds, as text: kind, times, counts, fields with
/// units and ranges (of an H5MD file: over its last frame), provenance. Checkpoints are read completely and
/// their checksums verified, FCLIB files are checked as read_fclib() does. Throws InputError on all ranks if
/// the file cannot be read. Collective; the text is the same on all ranks.
std::string describe_file(const Comm& comm, const std::string& path);

}  // namespace scree
