#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>

namespace scree {

/// The file of the program that runs, and where a program of this name would lie beside it. Empty without
/// /proc. Local.
std::filesystem::path this_program();
std::filesystem::path program_beside(const char* name);

/// The folder that holds all of `contents`, which come with the program: the nearest above it, as in a source
/// tree (build/PRESET/bin), or share/scree in one of those, where they are installed. Empty if there is none.
/// Local.
std::string program_folder(std::initializer_list<const char*> contents);

/// Whether a folder holds all of `contents`. Local.
bool holds(const std::string& folder, std::initializer_list<const char*> contents);

}  // namespace scree
