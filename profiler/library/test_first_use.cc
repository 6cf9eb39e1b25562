// A program that records itself: first_use_test.sh looks at its symbols.
#include "kymo/profile.h"

int main() {
  kymo::Profile profile;
  absl::Status status = profile.Start();
  status.Update(profile.Stop());
  return status.ok() ? 0 : 1;
}
