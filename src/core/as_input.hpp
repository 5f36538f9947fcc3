#pragma once
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.hpp"

namespace scree {

/// An error of input that may concern this rank alone, hence is no CollectiveError: missing memory, an
/// exception of a library. The program ends with ExitCode::bad_input (drivers/driver_main.hpp).
class LocalInputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// work(), in which `what` is read or built: an exception that nobody foresaw becomes a LocalInputError that
/// names it.
template <class Work>
auto as_input(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const CollectiveError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw LocalInputError(what + ": there is not enough memory for it");
  } catch (const std::exception& error) {
    throw LocalInputError(what + ": cannot be used: " + error.what());
  }
}

}  // namespace scree
