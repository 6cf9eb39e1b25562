#include "backends/off_cpu/stack_samples.h"

#include <utility>

namespace kymo::off_cpu {

using sampling::PerfEvents;
using sampling::PerfTarget;
using sampling::RecordBytes;

void StackSamples::Open(pid_t pid, PerfTarget target) {
  auto switches = PerfEvents::OpenSwitchStacks(pid, target);
  if (!switches.ok()) return;
  switches_ = *std::move(switches);
  AddRingsOf(*switches_);
  // A thread of this process may have two events. Its wakes would come twice,
  // and nothing says which do.
  if (target != PerfTarget::kProgram) return;
  auto wakes = PerfEvents::OpenWakes(pid);
  if (!wakes.ok()) return;
  wakes_ = *std::move(wakes);
  AddRingsOf(*wakes_);
}

void StackSamples::AddRingsOf(PerfEvents& events) {
  for (size_t i = 0; i < events.rings().size(); ++i) {
    rings_.push_back({.events = &events, .index = i});
  }
}

void StackSamples::AddRings(std::vector<sampling::PerfRing*>& rings) {
  for (const Ring& ring : rings_) {
    rings.push_back(&ring.events->rings()[ring.index]);
  }
}

bool StackSamples::Handle(RecordBytes bytes, uint32_t type, size_t ring) {
  if (type == PERF_RECORD_SAMPLE) {
    rings_[ring].budget.Take();
    return HandleSample(bytes, *rings_[ring].events);
  }
  return type != PERF_RECORD_LOST || sampling::DecodeLost(bytes).has_value();
}

// False if the record is damaged.
bool StackSamples::HandleSample(RecordBytes bytes, const PerfEvents& events) {
  const auto sample = sampling::DecodeSample(bytes, events.layout());
  if (!sample) return false;
  if (&events == switches_.get()) {
    causes_->OnSample(*sample);
    return true;
  }
  const auto wake = sampling::DecodeWake(*sample);
  if (!wake) return false;
  // Threads of other programs are woken, too, and wake.
  if (clock_->IsTimed(wake->woken_tid)) {
    causes_->OnWake(*sample, *wake, clock_->IsTimed(sample->tid));
  }
  return true;
}

void StackSamples::Bound(uint64_t now_ns) {
  for (Ring& ring : rings_) {
    const bool is_paused = !ring.budget.Update(now_ns);
    if (is_paused == ring.is_paused) continue;
    ring.is_paused = is_paused;
    is_paused ? ring.events->Pause(ring.index)
              : ring.events->Resume(ring.index);
  }
}

void StackSamples::Disable() {
  for (PerfEvents* const events : {switches_.get(), wakes_.get()}) {
    if (events != nullptr) events->Disable();
  }
}

void StackSamples::End() {
  switches_ = nullptr;
  wakes_ = nullptr;
  rings_.clear();
}

}  // namespace kymo::off_cpu
