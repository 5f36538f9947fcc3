#pragma once
#include <string>

namespace scree {

/// What in an HDF5 file lies in another one, in words: "/M is a link to another file". Links to other files,
/// datasets kept in other files and virtual datasets would make a program read files that nobody named;
/// groups nested without end are told too. Empty: all is in the file, or it cannot be opened, which whoever
/// opens it for its content finds out. Local; HDF5 prints no errors
/// of its own from then on. Opens the file for reading, with its metadata alone;
/// O(objects).
std::string content_elsewhere(const std::string& path);

}  // namespace scree
