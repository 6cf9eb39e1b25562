// categories.h - the type of activity for the `cat` of a trace's event.
//
//   FindCategory("kernel")    // kConcurrentKernel; the text is the type's own
//   FindCategory("Kernel")    // the same type; the text is another one
//   FindCategory("toplevel")  // kCpuOp; the text is another one
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_CATEGORIES_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_CATEGORIES_H_

#include <string_view>

#include "profiler/model/activity_type.h"

namespace kymo::chrome_import {

struct Category {
  model::ActivityType type = model::ActivityType::kCpuOp;
  bool is_exact = true;  // the text is the type's own
};

// Knows the types of Kineto, also those of its early traces and of devices
// other than CUDA's. An unknown category is an operation of the host.
Category FindCategory(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_CATEGORIES_H_
