#include "backends/off_cpu/static_objects.h"

#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/symbolize/statics/static_names.h"

namespace kymo::off_cpu {

void StaticObjects::Note(uint32_t pid, WaitCause& cause) {
  if (cause.object == 0) return;
  if (version_ != stacks_->mappings_version() || known_.size() >= kMostKnown) {
    known_.clear();
    version_ = stacks_->mappings_version();
  }
  const auto [known, is_new] = known_.try_emplace({pid, cause.object});
  if (is_new) {
    const auto mapping = stacks_->StaticAt(pid, cause.object);
    if (mapping) {
      // Where the module begins tells processes and their images apart.
      const std::string name = absl::StrCat("static ", mapping->module, " ",
                                            absl::Hex(mapping->delta));
      known->second = log_->Name(name);
      if (known->second != model::kEmptyName) modules_[name] = *mapping;
    }
    // It may have read what the process has mapped.
    version_ = stacks_->mappings_version();
  }
  cause.object_name = known->second;
}

void StaticObjects::Name(model::TraceShard& shard,
                         model::ThreadStates& states) const {
  absl::flat_hash_map<model::NameId, const symbolize::Mapping*> modules;
  for (const auto& [name, mapping] : modules_) {
    const auto id = shard.strings.Find(name);
    if (id) modules[*id] = &mapping;
  }
  if (modules.empty()) return;
  absl::flat_hash_map<symbolize::ModuleId,
                      std::unique_ptr<symbolize::StaticNames>>
      symbols;
  absl::flat_hash_map<std::pair<model::NameId, uint64_t>, model::NameId> named;
  const auto name_of = [&](const symbolize::Mapping& mapping,
                           uint64_t object) -> std::string {
    const symbolize::ElfModule& module =
        stacks_->modules().module(mapping.module);
    auto& of_module = symbols[mapping.module];
    if (of_module == nullptr) {
      of_module = std::make_unique<symbolize::StaticNames>(module);
    }
    const uint64_t address = object + mapping.delta;
    const std::string name = of_module->Of(address);
    const std::string file(module.short_name());
    return name.empty() ? absl::StrCat(file, "+0x", absl::Hex(address))
                        : absl::StrCat(name, " in ", file);
  };
  const auto set = [&](auto& wait) {
    const auto module = modules.find(wait.object_name);
    if (module == modules.end()) return;
    model::NameId& name = named[{wait.object_name, wait.object}];
    if (name == model::kEmptyName) {
      name = shard.strings.Intern(name_of(*module->second, wait.object));
    }
    wait.object_name = name;
  };
  for (model::Wait& wait : states.waits) set(wait);
  for (model::WaitSum& sum : states.short_waits) set(sum);
}

}  // namespace kymo::off_cpu
