// test_events.h - events made by hand.
//
//   std::vector<FunctionEvent> events = {Cpu("A", 0, 10), Cpu("B", 2, 3)};
//   const EventList list = Treed(events);
#ifndef KYMO_PROFILER_EVENTS_TEST_EVENTS_H_
#define KYMO_PROFILER_EVENTS_TEST_EVENTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/events/event_list.h"
#include "profiler/events/function_event.h"

namespace kymo {

inline std::shared_ptr<const EventStack> MakeStack(EventStack entries) {
  return std::make_shared<const EventStack>(std::move(entries));
}

inline std::shared_ptr<const InputShapes> MakeShapes(InputShapes shapes) {
  return std::make_shared<const InputShapes>(std::move(shapes));
}

// An event of thread 1, with an empty stack, no inputs and 0 FLOPs.
inline FunctionEvent Cpu(std::string name, double start_us, double end_us) {
  FunctionEvent e;
  e.name = std::move(name);
  e.time_range = {start_us, end_us};
  e.thread = 1;
  e.flops = 0;
  e.stack = MakeStack({});
  e.input_shapes = MakeShapes({});
  return e;
}

inline FunctionEvent Async(std::string name, double start_us, double end_us) {
  FunctionEvent e = Cpu(std::move(name), start_us, end_us);
  e.is_async = true;
  return e;
}

// On CUDA stream 7.
inline FunctionEvent Cuda(std::string name, double start_us, double end_us) {
  FunctionEvent e = Cpu(std::move(name), start_us, end_us);
  e.device_type = DeviceType::kCuda;
  e.thread = 7;
  return e;
}

inline EventList Treed(std::vector<FunctionEvent> events,
                       EventListOptions options = {}) {
  for (FunctionEvent& e : events) e.use_device = options.use_device;
  EventList list(std::move(events), std::move(options));
  const absl::Status status = list.build_tree();
  EXPECT_TRUE(status.ok()) << status;
  return list;
}

// "A>B C": each event with its parent in front, in list order.
inline std::string TreeText(const EventList& events) {
  std::string text;
  for (const FunctionEvent& e : events) {
    if (!text.empty()) text += ' ';
    if (e.cpu_parent) text += events[*e.cpu_parent].name + ">";
    text += e.name;
  }
  return text;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_TEST_EVENTS_H_
