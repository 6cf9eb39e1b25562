#include "backends/off_cpu/static_objects.h"

#include <pthread.h>

#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "profiler/model/shared_objects.h"
#include "profiler/symbolize/statics/static_names.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// A futex of the C library's conditions and barriers lies within the object.
// Their sizes are part of its interface.
bool IsWholeObject(WaitKind kind, uint64_t size_bytes) {
  return kind == WaitKind::kCondition &&
         (size_bytes == sizeof(pthread_cond_t) ||
          size_bytes == sizeof(pthread_barrier_t));
}

// What objects are in: a module, or memory.
class ObjectNames {
 public:
  struct Named {
    std::string name;
    uint64_t object = 0;  // where it begins
  };
  ObjectNames(const symbolize::ModuleTable& modules,
              const absl::flat_hash_map<std::string, SharedPlace>& shared)
      : modules_(modules) {
    for (const auto& [name, place] : shared) ids_[place.file].insert(place.id);
  }

  Named Of(const symbolize::Mapping& mapping, WaitKind kind, uint64_t object) {
    const symbolize::ElfModule& module = modules_.module(mapping.module);
    auto& of_module = symbols_[mapping.module];
    if (of_module == nullptr) {
      of_module = std::make_unique<symbolize::StaticNames>(module);
    }
    const uint64_t address = object + mapping.delta;
    const std::string file(module.short_name());
    const auto found = of_module->Find(address);
    if (found && IsWholeObject(kind, found->size_bytes)) {
      return {absl::StrCat(found->name, " in ", file), object - found->offset};
    }
    const std::string name = of_module->Of(address);
    return {name.empty() ? absl::StrCat(file, "+0x", absl::Hex(address))
                         : absl::StrCat(name, " in ", file),
            object};
  }
  // Several may have no name, or the same.
  Named Of(const SharedPlace& place, WaitKind /*kind*/, uint64_t object) const {
    const auto ids = ids_.find(place.file);
    const std::string inode =
        ids->second.size() > 1 ? absl::StrCat(" (inode ", InodeOf(place), ")")
                               : "";
    return {absl::StrCat(std::string(model::kSharedPrefix), place.file, inode,
                         "+0x", absl::Hex(object + place.delta)),
            object};
  }

 private:
  static std::string InodeOf(const SharedPlace& place) {
    return place.id.substr(place.id.rfind(':') + 1);
  }

  const symbolize::ModuleTable& modules_;
  absl::flat_hash_map<std::string, std::set<std::string>> ids_;  // by file
  absl::flat_hash_map<symbolize::ModuleId,
                      std::unique_ptr<symbolize::StaticNames>>
      symbols_;
};

// The names of the log that the shard has.
template <typename Place>
absl::flat_hash_map<model::NameId, const Place*> ById(
    const model::TraceShard& shard,
    const absl::flat_hash_map<std::string, Place>& places) {
  absl::flat_hash_map<model::NameId, const Place*> by_id;
  for (const auto& [name, place] : places) {
    const auto id = shard.strings.Find(name);
    if (id) by_id[*id] = &place;
  }
  return by_id;
}

}  // namespace

template <typename Place>
model::NameId StaticObjects::Keep(
    const std::string& name, const Place& place,
    absl::flat_hash_map<std::string, Place>& places) {
  const model::NameId id = log_->Name(name);
  if (id != model::kEmptyName) places[name] = place;
  return id;
}

model::NameId StaticObjects::StaticPlace(uint32_t pid, uint64_t object) {
  const auto mapping = stacks_->StaticAt(pid, object);
  if (!mapping) return model::kEmptyName;
  // Where the module begins tells processes and their images apart.
  const std::string name =
      absl::StrCat("static ", mapping->module, " ", absl::Hex(mapping->delta));
  return Keep(name, *mapping, modules_);
}

model::NameId StaticObjects::SharedPlaceOf(uint32_t pid, uint64_t object) {
  const auto found =
      memory_.At(pid, stacks_->processes().Process(pid).parent_pid, object);
  if (!found) return model::kEmptyName;
  const std::string name =
      absl::StrCat("shared ", found->id, " ", absl::Hex(found->delta));
  return Keep(name, *found, shared_);
}

void StaticObjects::Note(uint32_t pid, WaitCause& cause) {
  if (cause.object == 0) return;
  if (version_ != stacks_->mappings_version() || known_.size() >= kMostKnown) {
    known_.clear();
    version_ = stacks_->mappings_version();
  }
  const std::pair key(pid, cause.object);
  auto known = known_.find(key);
  if (known == known_.end()) {
    const model::NameId name = StaticPlace(pid, cause.object);
    // It may have read what the process has mapped.
    version_ = stacks_->mappings_version();
    known = known_.try_emplace(key, name).first;
  }
  // Memory comes and goes.
  cause.object_name = known->second != model::kEmptyName
                          ? known->second
                          : SharedPlaceOf(pid, cause.object);
}

void StaticObjects::Name(model::TraceShard& shard,
                         model::ThreadStates& states) const {
  const auto modules = ById(shard, modules_);
  const auto shared = ById(shard, shared_);
  if (modules.empty() && shared.empty()) return;
  ObjectNames names(stacks_->modules(), shared_);
  struct Named {
    model::NameId name = model::kEmptyName;
    uint64_t object = 0;
  };
  std::map<std::tuple<model::NameId, WaitKind, uint64_t>, Named> known;
  const auto set_from = [&](auto& wait, const auto& places) {
    const auto place = places.find(wait.object_name);
    if (place == places.end()) return false;
    Named& named = known[{wait.object_name, wait.kind, wait.object}];
    if (named.name == model::kEmptyName) {
      const auto told = names.Of(*place->second, wait.kind, wait.object);
      named = {shard.strings.Intern(told.name), told.object};
    }
    wait.object_name = named.name;
    wait.object = named.object;
    return true;
  };
  const auto set = [&](auto& wait) {
    set_from(wait, modules) || set_from(wait, shared);
  };
  for (model::Wait& wait : states.waits) set(wait);
  for (model::WaitSum& sum : states.short_waits) set(sum);
}

}  // namespace kymo::off_cpu
