// program.cc - a program in C++98 whose ranges end with their scopes.
#include <string>

#include "kymo/annotate.h"

namespace {

class Range {
 public:
  explicit Range(const std::string& name) { kymo_push(name.c_str()); }
  ~Range() { kymo_pop(); }

 private:
  Range(const Range&);
  Range& operator=(const Range&);
};

}  // namespace

int main() {
  const Range outer("outer");
  for (int i = 0; i < 3; ++i) {
    const Range inner(std::string("inner ") + static_cast<char>('0' + i));
  }
  return kymo_is_recording() != 0 ? 0 : 3;
}
