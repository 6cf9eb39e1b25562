#include "profiler/plugin/library/plugin_backend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/library/plugin_call.h"
#include "profiler/plugin/library/plugin_setting.h"
#include "profiler/plugin/shared_parts.h"

namespace kymo {
namespace {

// Through these variables a program finds the tools of CUDA, NVTX and ITT.
// Kymo's own backends set them.
constexpr std::array<std::string_view, 3> kToolVariables = {
    "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64"};

// Options as a library takes them. Borrows from its arguments.
class OptionsForPlugin {
 public:
  OptionsForPlugin(const PluginFacts& facts, const SessionOptions& options)
      : values_(PluginSettingValues(facts.info, facts.setting_names,
                                    options.settings)) {
    if (!options.scratch_dir.empty()) {
      std::error_code error;
      scratch_dir_ = std::filesystem::absolute(options.scratch_dir, error);
    }
    options_.struct_size = sizeof(options_);
    options_.target = options.target == TargetKind::kChildProcess
                          ? KYMO_TARGET_CHILD
                          : KYMO_TARGET_THIS_PROCESS;
    options_.target_path = options.target_path.c_str();
    options_.scratch_dir = scratch_dir_.c_str();
    const auto want = [this](bool is_wanted, KymoWant bit) {
      if (is_wanted) options_.wants |= static_cast<uint32_t>(bit);
    };
    want(options.all_threads, KYMO_WANT_ALL_THREADS);
    want(options.record_shapes, KYMO_WANT_SHAPES);
    want(options.profile_memory, KYMO_WANT_MEMORY);
    want(options.with_stack, KYMO_WANT_STACKS);
    want(options.with_modules, KYMO_WANT_MODULES);
    options_.setting_count = static_cast<uint32_t>(values_.size());
    options_.settings = values_.data();
  }
  OptionsForPlugin(const OptionsForPlugin&) = delete;
  OptionsForPlugin& operator=(const OptionsForPlugin&) = delete;

  const KymoSessionOptions* get() const { return &options_; }

 private:
  std::string scratch_dir_;
  const std::vector<KymoSettingValue> values_;
  KymoSessionOptions options_ = {};
};

// What a library's `prepare` gets for a child.
class SetupForPlugin {
 public:
  // `setup` must outlive the object.
  SetupForPlugin(const std::string& library_path, TargetSetup& setup)
      : library_path_(library_path), setup_(setup) {
    table_.struct_size = sizeof(table_);
    table_.host = this;
    table_.set_variable = [](void* host, const char* name, const char* value) {
      return Guard(host, [=](SetupForPlugin& self) {
        return self.SetVariable(name, value);
      });
    };
    table_.load_library = [](void* host, const char* path) {
      return Guard(
          host, [=](SetupForPlugin& self) { return self.LoadLibrary(path); });
    };
  }
  SetupForPlugin(const SetupForPlugin&) = delete;
  SetupForPlugin& operator=(const SetupForPlugin&) = delete;

  const KymoTargetSetup* get() const { return &table_; }
  // The first error of the functions.
  const absl::Status& status() const { return status_; }

 private:
  template <typename Function>
  static uint32_t Guard(void* host, Function function) noexcept {
    if (host == nullptr) return KYMO_INVALID_ARGUMENT;
    auto& self = *static_cast<SetupForPlugin*>(host);
    try {
      const absl::Status status = function(self);
      self.status_.Update(status);
      return status.ok() ? KYMO_OK : KYMO_INVALID_ARGUMENT;
    } catch (const std::bad_alloc&) {
      self.status_ = absl::ResourceExhaustedError("");
      return KYMO_OUT_OF_MEMORY;
    } catch (...) {
      // The library may be of C, through which no exception may go.
      self.status_ = absl::InternalError("");
      return KYMO_INTERNAL;
    }
  }

  absl::Status SetVariable(const char* name_in, const char* value) {
    const std::string name = name_in == nullptr ? "" : name_in;
    if (name.empty() || name.find('=') != std::string::npos ||
        value == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the backend sets the environment variable '", name,
                       "', which has no name or no value"));
    }
    if (std::find(kToolVariables.begin(), kToolVariables.end(), name) !=
        kToolVariables.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the backend sets the environment variable ", name,
          ", by which Kymo's own backends get into the program; a backend "
          "loads its library with load_library()"));
    }
    if (name.starts_with("LD_") || name.starts_with("KYMO_")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the backend sets the environment variable ", name,
          "; variables of the loader and of Kymo are not its to set"));
    }
    const auto [it, is_new] = setup_.environment.emplace(name, value);
    if (!is_new && it->second != value) {
      return absl::AlreadyExistsError(absl::StrCat(
          "the backend sets the environment variable ", name,
          ", which another backend needs; leave one of the two out"));
    }
    return absl::OkStatus();
  }

  absl::Status LoadLibrary(const char* path_in) {
    namespace fs = std::filesystem;
    const std::string given = PluginText(path_in, 4096);
    if (given.empty()) {
      return absl::InvalidArgumentError(
          "the backend gives no path of the library that the program loads");
    }
    std::error_code error;
    const fs::path folder = fs::absolute(library_path_, error).parent_path();
    const fs::path path = (folder / given).lexically_normal();
    if (!fs::is_regular_file(path, error)) {
      return absl::NotFoundError(absl::StrCat(
          path.string(), ", which the backend loads into the program, is no ",
          "file; copy it beside ", library_path_));
    }
    setup_.preloads.push_back(path.string());
    return absl::OkStatus();
  }

  const std::string& library_path_;
  TargetSetup& setup_;
  KymoTargetSetup table_ = {};
  absl::Status status_;
};

class PluginSession final : public ActivitySession {
 public:
  PluginSession(const PluginFacts& facts, void* session,
                std::shared_ptr<PluginCorrelations> correlations)
      : facts_(facts),
        session_(session),
        correlations_(std::move(correlations)) {}
  ~PluginSession() override {
    if (functions().destroy == nullptr) return;
    // A destructor has nobody to tell.
    GuardedCall("destroy", [this] {
      functions().destroy(session_);
      return absl::OkStatus();
    }).IgnoreError();
  }

  absl::Status Prepare(TargetSetup* setup) override {
    if (functions().prepare == nullptr) return absl::OkStatus();
    const KymoTargetSetup* const none = nullptr;
    if (setup == nullptr) {
      return CallPlugin("prepare", functions().prepare, session_, none);
    }
    // After an error nothing may be left in the setup.
    TargetSetup changed = *setup;
    const SetupForPlugin table(facts_.path, changed);
    KYMO_RETURN_IF_ERROR(
        CallPlugin("prepare", functions().prepare, session_, table.get()));
    KYMO_RETURN_IF_ERROR(table.status());
    *setup = std::move(changed);
    return absl::OkStatus();
  }

  absl::Status Start(pid_t pid) override {
    return CallPlugin("start", functions().start, session_, int64_t{pid});
  }

  void Poll() override {
    if (functions().poll != nullptr) functions().poll(session_);
  }

  absl::Status SetCollecting(bool collecting) override {
    if (functions().set_collecting == nullptr) {
      return ActivitySession::SetCollecting(collecting);
    }
    return CallPlugin("set_collecting", functions().set_collecting, session_,
                      uint32_t{collecting});
  }

  absl::Status Stop() override {
    return CallPlugin("stop", functions().stop, session_);
  }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    PluginRecords records({.backend = facts_.info.name,
                           .losses = facts_.losses,
                           .correlations = correlations_},
                          shard);
    KYMO_RETURN_IF_ERROR(
        CallPlugin("collect", functions().collect, session_, records.table()));
    KYMO_RETURN_IF_ERROR(records.Finish());
    remarks_ = records.TakeRemarks();
    return Collected();
  }

  std::vector<std::string> Remarks() const override { return remarks_; }

 private:
  const KymoBackendPlugin& functions() const { return facts_.functions; }

  const PluginFacts& facts_;  // the backend's
  void* const session_;
  const std::shared_ptr<PluginCorrelations> correlations_;
  std::vector<std::string> remarks_;
};

class PluginBackend final : public ActivityBackend {
 public:
  explicit PluginBackend(PluginFacts facts) : facts_(std::move(facts)) {}

  const PluginInfo& info() const noexcept override { return facts_.info; }

  // What the functions of KymoRecords take.
  std::vector<model::ActivityType> activity_types() const override {
    using model::ActivityType;
    return {ActivityType::kCpuOp,
            ActivityType::kUserAnnotation,
            ActivityType::kGpuMemcpy,
            ActivityType::kGpuMemset,
            ActivityType::kConcurrentKernel,
            ActivityType::kCudaRuntime,
            ActivityType::kCpuInstantEvent,
            ActivityType::kOverhead};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    if (facts_.functions.availability == nullptr) return absl::OkStatus();
    return CallPlugin("availability", facts_.functions.availability,
                      OptionsForPlugin(facts_, options).get());
  }

  std::string Limitation(const SessionOptions& options) const override {
    if (facts_.functions.limitation == nullptr) return {};
    std::array<char, kWhySize> text = {};
    const OptionsForPlugin for_plugin(facts_, options);
    facts_.functions.limitation(for_plugin.get(), text.data(), text.size());
    return PluginText(text.data(), text.size());
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    std::shared_ptr<PluginCorrelations> correlations;
    if (options.shared) {
      KYMO_ASSIGN_OR_RETURN(correlations,
                            options.shared->Get<PluginCorrelations>([] {
                              return std::make_shared<PluginCorrelations>();
                            }));
    }
    void* session = nullptr;
    KYMO_RETURN_IF_ERROR(CallPlugin("create", facts_.functions.create,
                                    OptionsForPlugin(facts_, options).get(),
                                    &session));
    return std::make_unique<PluginSession>(facts_, session,
                                           std::move(correlations));
  }

  const KymoBackendPlugin* plugin() const { return facts_.plugin; }

 private:
  const PluginFacts facts_;
};

}  // namespace

std::unique_ptr<ActivityBackend> NewPluginBackend(PluginFacts facts) {
  return std::make_unique<PluginBackend>(std::move(facts));
}

bool IsPluginBackend(const ActivityBackend* backend,
                     const KymoBackendPlugin* plugin) {
  const auto* const mine = dynamic_cast<const PluginBackend*>(backend);
  return mine != nullptr && mine->plugin() == plugin;
}

}  // namespace kymo
