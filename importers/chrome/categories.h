// categories.h - a trace's `cat` as a type of activity.
//
//   FindCategory("kernel")    // kConcurrentKernel, and the text is the type's
//   FindCategory("Kernel")    // the same; the text is not
//   FindCategory("toplevel")  // kCpuOp; the text is not the type's
#ifndef KYMO_IMPORTERS_CHROME_CATEGORIES_H_
#define KYMO_IMPORTERS_CHROME_CATEGORIES_H_

#include <string_view>

#include "profiler/model/activity_type.h"

namespace kymo::chrome_import {

struct Category {
  model::ActivityType type = model::ActivityType::kCpuOp;
  bool is_exact = true;  // the type's own text
};

// Types of Kineto's, also those of its early traces and of devices other than
// CUDA's; what nobody knows is an operation of the host.
Category FindCategory(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_CATEGORIES_H_
