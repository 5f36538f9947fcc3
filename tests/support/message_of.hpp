#pragma once
#include <string>

#include "core/error.hpp"

namespace scree {

/// Calls `work` and gives the message of the error that it throws; "" if it throws none.
template <class Error = CollectiveError, class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace scree
