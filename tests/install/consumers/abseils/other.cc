#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

std::string SayOfOtherAbseil(int number) {
  return absl::InvalidArgumentError(absl::StrCat("other ", number)).ToString();
}
