#include "profiler/plugin/library/plugin_reader.h"

#include <cstring>
#include <set>

#include "absl/status/statusor.h"
#include "profiler/base/names.h"
#include "profiler/plugin/library/plugin_setting.h"

namespace kymo {
namespace {

constexpr uint32_t kMostSettings = 256;

}  // namespace

absl::Status PluginReader::Wrong(const std::string& what) const {
  return absl::FailedPreconditionError(absl::StrCat(
      "the ", library_.kind, " in '", library_.path, "' cannot be used: ", what,
      "; ", library_.header, " says what Kymo expects"));
}

absl::Status PluginReader::CheckHead(const uint32_t* struct_size,
                                     const uint32_t* version,
                                     uint32_t first_size) const {
  const std::string ours = VersionText(KYMO_PLUGIN_VERSION);
  if (struct_size == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", library_.path, "' does not work with version ", ours, " of the ",
        library_.kind, " interface, which this Kymo has; ",
        HowToMakeItFit(library_)));
  }
  if (*struct_size < kPluginHeadSize) {
    return Wrong(absl::StrCat("its struct_size is ", *struct_size,
                              ", too little for any version; version ", ours,
                              ", which this Kymo has, needs ", first_size));
  }
  KYMO_RETURN_IF_ERROR(
      CheckLibraryVersion(library_, *version, KYMO_PLUGIN_VERSION));
  if (*struct_size < first_size) {
    return Wrong(absl::StrCat(
        "it was built for version ", VersionText(*version),
        ", but its struct_size is ", *struct_size, "; version ", ours,
        ", which this Kymo has, needs at least ", first_size));
  }
  return absl::OkStatus();
}

absl::Status PluginReader::CheckTexts(
    std::initializer_list<const char*> texts) const {
  for (const char* const text : texts) {
    if (text == nullptr ||
        strnlen(text, kMostTextBytes + 1) <= kMostTextBytes) {
      continue;
    }
    return Wrong(absl::StrCat("a text that begins with '", PluginText(text, 40),
                              "' is over ", kMostTextBytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status PluginReader::ReadNames(const char* name, const char* purpose,
                                     PluginInfo& info) const {
  KYMO_RETURN_IF_ERROR(CheckTexts({name, purpose}));
  info.name = PluginText(name);
  if (!IsLowerSnake(info.name)) {
    return Wrong(
        absl::StrCat("its name, '", info.name, "', is not lower_snake"));
  }
  info.purpose = PluginText(purpose);
  if (info.purpose.empty()) return Wrong("it has no purpose");
  return absl::OkStatus();
}

absl::Status PluginReader::ReadSettings(const KymoSetting* settings,
                                        uint32_t count, PluginInfo& info,
                                        std::vector<std::string>& names) const {
  std::set<std::string> known;
  return ForEach(
      settings, count, kMostSettings, "settings",
      [&](const KymoSetting& setting) -> absl::Status {
        KYMO_RETURN_IF_ERROR(CheckTexts({setting.name, setting.default_value,
                                         setting.purpose, setting.words}));
        const std::string name = PluginText(setting.name);
        if (!IsLowerSnake(name)) {
          return Wrong(absl::StrCat("the name of a setting, '", name,
                                    "', is not lower_snake"));
        }
        if (!known.insert(name).second) {
          return Wrong(absl::StrCat("it has two settings named ", name));
        }
        absl::StatusOr<SettingInfo> read = PluginSetting(info.name, setting);
        if (!read.ok()) return Wrong(std::string(read.status().message()));
        info.settings.push_back(*std::move(read));
        names.push_back(name);
        return absl::OkStatus();
      });
}

}  // namespace kymo
