#include "profiler/plugin/guarded_call.h"

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"

namespace kymo {

absl::Status StatusOfException(const char* call) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(call, " ran out of memory"));
  } catch (const std::exception& exception) {
    return absl::UnknownError(
        absl::StrCat(call, " threw an exception: ", exception.what()));
  } catch (...) {
    return absl::UnknownError(
        absl::StrCat(call, " threw an exception that says no reason"));
  }
}

}  // namespace kymo
