#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

/// Small operations on files that do not fail silently. Messages carry the path and the system's reason.
namespace scree::files {

/// Named texts: provenance of a run, for instance.
using Texts = std::vector<std::pair<std::string, std::string>>;

/// Runs `work` on rank 0; if it throws, all ranks throw the same. `work` must not communicate. Collective.
void on_root(const Comm& comm, const std::function<void()>& work);

/// Writes `content` to a temporary name beside `path` and renames it, so that a reader sees the old file or
/// the new one and never half of it. Links of either name are replaced, not followed. With `durable` it also
/// survives a loss of power. Throws RunError and leaves no temporary file. Local.
void write_atomically(const std::string& path, std::string_view content, bool durable = false);

/// The same on rank 0, unless `path` is empty; if it fails, all ranks throw. Collective.
void write_on_root(const Comm& comm, const std::string& path, std::string_view content);

/// Bytes that this process has written to files so far, by any thread; what libraries add for themselves does
/// not count. Local.
std::int64_t bytes_written();
/// Counts bytes that went to a file by another way than write_all(). Local.
void count_written(std::int64_t bytes);

/// Appends to an open descriptor; throws RunError. Local.
void write_all(int descriptor, std::string_view content, const std::string& path);

/// Reads a regular file on rank 0 (read_input) and gives the text to all. Throws InputError on all ranks.
/// Collective.
std::string read_on_all(const Comm& comm, const std::string& path);

/// Makes a folder and those above it; throws RunError on all ranks. Collective.
void make_directory(const Comm& comm, const std::string& path);

/// Makes `to` a copy of `from`, with its permissions; throws RunError and leaves no `to`. Local.
void copy(const std::string& from, const std::string& to);

/// Renames `from` to `to` and makes both the content and the new name durable; throws RunError. Local.
void rename_durably(const std::string& from, const std::string& to);

/// Extends an existing file to hold `bytes` from offset `from` on, with blocks on the disk: a full disk, a
/// quota or a size limit is found here, with the system's reason, and not in the middle of a collective
/// write, where one rank's failure leaves the others waiting. Where blocks cannot be reserved, the free space
/// is compared. On failure the file keeps its length. Throws RunError. Local.
void reserve(const std::string& path, std::int64_t from, std::int64_t bytes, const std::string& purpose);

/// "No space left on device (4096 bytes free)": text of an errno, with what helps to understand it. Local.
std::string reason(int error_number, const std::string& path);

/// Throws RunError "cannot OPERATION PATH: ..." with the reason in errno. Local.
[[noreturn]] void fail(const std::string& operation, const std::string& path);

}  // namespace scree::files
