#include "backends/sampling/unwind/outer_frames.h"

#include "profiler/symbolize/elf_module.h"

namespace kymo::sampling {

void OuterFrames::Keep(int64_t tid, int64_t image, const UnwoundStack& stack) {
  if (stack.frames.size() < 2) return;
  if (!threads_.contains(tid) && threads_.size() >= kMostThreads) return;
  Thread& thread = threads_[tid];
  thread.image = image;
  thread.frames.clear();
  for (size_t i = 1; i < stack.frames.size(); ++i) {
    thread.frames.push_back({stack.frames[i], stack.at[i]});
  }
  thread.watched.clear();
  for (const WatchedFrame& watched : stack.watched) {
    if (watched.index == 0) continue;
    thread.watched.push_back(watched);
    thread.watched.back().index -= 1;
    thread.watched.back().is_remembered = true;
  }
}

// How many of the outermost frames are still there.
size_t OuterFrames::CountOnStack(const Thread& thread, uint64_t above,
                                 const StackCopy& copy, const ReadWords& read) {
  // Outermost first; the first ones lie beyond the copy.
  addresses_.clear();
  for (size_t i = thread.frames.size(); i-- > 0;) {
    const uint64_t stack_pointer = thread.frames[i].at.stack_pointer;
    if (stack_pointer <= above) break;
    addresses_.push_back(stack_pointer - 8);
  }
  values_.assign(addresses_.size(), 0);
  size_t beyond = 0;
  while (beyond < addresses_.size() && !copy.Read(addresses_[beyond])) ++beyond;
  const std::span<uint64_t> far(values_.data(), beyond);
  if (read(std::span(addresses_).first(beyond), far) < beyond) return 0;
  for (size_t i = beyond; i < addresses_.size(); ++i) {
    values_[i] = copy.Read(addresses_[i]).value_or(0);
  }
  size_t count = 0;
  while (count < values_.size() &&
         values_[count] ==
             thread.frames[thread.frames.size() - 1 - count].at.instruction) {
    ++count;
  }
  return count;
}

bool OuterFrames::Complete(int64_t tid, int64_t image, const StackCopy& copy,
                           const ReadWords& read, UnwoundStack* stack) {
  if (stack->end == StackEnd::kComplete) {
    Keep(tid, image, *stack);
    return true;
  }
  const auto known = threads_.find(tid);
  if (known == threads_.end() || known->second.image != image ||
      stack->at.empty()) {
    return false;
  }
  const Thread& thread = known->second;
  const size_t count =
      CountOnStack(thread, stack->at.back().stack_pointer, copy, read);
  if (count == 0) return false;
  Join(thread, thread.frames.size() - count, stack);
  return true;
}

void OuterFrames::Join(const Thread& thread, size_t first,
                       UnwoundStack* stack) {
  stack->frames.push_back({symbolize::ModuleTable::kCut, 0});
  const size_t begin = stack->frames.size();
  for (size_t i = first; i < thread.frames.size(); ++i) {
    stack->frames.push_back(thread.frames[i].place);
  }
  for (WatchedFrame watched : thread.watched) {
    if (watched.index < first) continue;
    watched.index = begin + (watched.index - first);
    stack->watched.push_back(watched);
  }
  stack->is_joined = true;
}

}  // namespace kymo::sampling
