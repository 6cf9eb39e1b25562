// shared_parts.h - what the backends of one recording share.
//
//   struct Ring { int users = 0; };
//   kymo::SharedParts parts;          // one for each recording
//   const absl::StatusOr<std::shared_ptr<Ring>> ring =
//       parts.Get<Ring>([] { return std::make_shared<Ring>(); });
//   if (!ring.ok()) return ring.status();
//   ++(*ring)->users;
//   return absl::OkStatus();
//
// There is one part of each type. The first backend that asks for it makes it,
// the others get the same one. A part lives as long as somebody holds it.
//
// Threads: one at a time.
#ifndef KYMO_PROFILER_PLUGIN_SHARED_PARTS_H_
#define KYMO_PROFILER_PLUGIN_SHARED_PARTS_H_

#include <map>
#include <memory>

#include "absl/status/statusor.h"

namespace kymo {

class SharedParts {
 public:
  // `make` returns a std::shared_ptr<Part>, or a StatusOr of one; its error is
  // returned, and the next call tries again.
  template <typename Part, typename Make>
  absl::StatusOr<std::shared_ptr<Part>> Get(Make make) {
    std::weak_ptr<void>& known = parts_[&address_of<Part>];
    if (std::shared_ptr<void> part = known.lock()) {
      return std::static_pointer_cast<Part>(part);
    }
    absl::StatusOr<std::shared_ptr<Part>> made = make();
    if (made.ok()) known = *made;
    return made;
  }

 private:
  // An address stands for a type. With typeid, programs that are built with
  // -fno-rtti could not include this. Not const: linkers may fold constants.
  template <typename Part>
  static inline char address_of = 0;

  std::map<const void*, std::weak_ptr<void>> parts_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SHARED_PARTS_H_
