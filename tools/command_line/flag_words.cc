#include "tools/command_line/flag_words.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::tools {
namespace {

// A flag's word, split into its parts.
struct Flag {
  std::string name;
  std::optional<std::string> value;
};

// The settings that a flag's name stands for.
struct Meaning {
  std::vector<const SettingInfo*> settings;  // several: an old spelling
  bool is_own = false;
  bool is_old = false;
  bool is_negated = false;  // --noname
};

bool LooksLikeFlag(const std::string& word) {
  return word.size() >= 2 && word[0] == '-';
}

Flag Split(const std::string& word) {
  const size_t dashes = word[1] == '-' ? 2 : 1;
  const size_t equals = word.find('=');
  Flag flag;
  flag.name = word.substr(dashes, equals - dashes);
  if (equals != std::string::npos) flag.value = word.substr(equals + 1);
  return flag;
}

const SettingInfo* Find(std::span<const SettingInfo> settings,
                        std::string_view name) {
  for (const SettingInfo& setting : settings) {
    if (setting.has_flag && setting.name == name) return &setting;
  }
  return nullptr;
}

// The switch that `name` turns off; null if there is none.
const SettingInfo* FindNegated(std::span<const SettingInfo> settings,
                               std::string_view name) {
  if (!name.starts_with("no")) return nullptr;
  const SettingInfo* const setting = Find(settings, name.substr(2));
  return setting != nullptr && setting->is_switch() ? setting : nullptr;
}

Meaning MeaningOf(std::string_view name, std::span<const SettingInfo> own,
                  std::span<const SettingInfo> plugins) {
  for (const std::span<const SettingInfo> settings : {own, plugins}) {
    const bool is_own = settings.data() == own.data();
    if (const auto* const setting = Find(settings, name)) {
      return {.settings = {setting}, .is_own = is_own};
    }
    if (const auto* const setting = FindNegated(settings, name)) {
      return {.settings = {setting}, .is_own = is_own, .is_negated = true};
    }
  }
  Meaning old;
  old.is_old = true;
  for (const SettingInfo& setting : plugins) {
    if (setting.has_flag && !name.empty() && setting.old_name == name) {
      old.settings.push_back(&setting);
    }
  }
  return old;
}

// A plugin that was just loaded may bring a name that is taken. Nobody could
// tell then what a flag of that name means.
absl::Status CheckNames(std::span<const SettingInfo> own,
                        std::span<const SettingInfo> plugins) {
  std::map<std::string_view, const SettingInfo*> seen;
  for (const SettingInfo& setting : plugins) {
    std::string taken_by;
    if (Find(own, setting.name) != nullptr ||
        FindNegated(own, setting.name) != nullptr || setting.name == "help") {
      taken_by = "a flag of this command";
    } else if (const auto [other, is_new] =
                   seen.emplace(setting.name, &setting);
               !is_new) {
      taken_by = absl::StrCat("a setting of ", other->second->topic);
    }
    if (taken_by.empty()) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("the setting ", setting.name, " of ", setting.topic,
                     " has the name of ", taken_by,
                     "; give the plugin or its setting another name"));
  }
  return absl::OkStatus();
}

absl::Status UnknownFlag(std::string_view name,
                         std::span<const SettingInfo> own,
                         std::span<const SettingInfo> plugins) {
  std::vector<std::string> names = {"help"};
  for (const std::span<const SettingInfo> settings : {own, plugins}) {
    for (const SettingInfo& setting : settings) {
      if (setting.has_flag) names.push_back(setting.name);
    }
  }
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no flag --", ToAbsl(name), "; ",
      nearest.empty() ? "" : absl::StrCat("the nearest is --", nearest, "; "),
      "--help=all lists all flags"));
}

class Reader {
 public:
  Reader(const std::vector<std::string>& arguments, const FlagRules& rules)
      : arguments_(arguments), rules_(rules) {}

  absl::StatusOr<FlagWords> Read() {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_++];
      if (word == "--") break;
      if (!LooksLikeFlag(word)) {
        words_.others.push_back(word);
        if (rules_.place == FlagPlace::kFirst) break;
        continue;
      }
      const Flag flag = Split(word);
      if (word == "-h" || flag.name == "help") {
        words_.help = flag.value.value_or("");
        return std::move(words_);
      }
      KYMO_RETURN_IF_ERROR(Take(flag));
    }
    words_.others.insert(words_.others.end(), arguments_.begin() + at_,
                         arguments_.end());
    return std::move(words_);
  }

 private:
  absl::Status Take(const Flag& flag) {
    const std::vector<SettingInfo> plugins = rules_.plugin_settings();
    const Meaning meaning = MeaningOf(flag.name, rules_.own, plugins);
    if (meaning.settings.empty()) {
      return UnknownFlag(flag.name, rules_.own, plugins);
    }
    KYMO_ASSIGN_OR_RETURN(const std::string value, ValueOf(flag, meaning));
    for (const SettingInfo* const setting : meaning.settings) {
      if (!setting->accepts(value)) {
        return WrongValue("--" + flag.name, value, setting->takes);
      }
      (meaning.is_own ? words_.own : words_.settings)[setting->name] = value;
    }
    if (meaning.is_old) {
      Note(RenamedNotice(flag.name, meaning.settings, "--"));
    }
    if (!meaning.is_own || !rules_.on_flag) return absl::OkStatus();
    KYMO_RETURN_IF_ERROR(rules_.on_flag(meaning.settings[0]->name, value));
    return CheckNames(rules_.own, rules_.plugin_settings());
  }

  absl::StatusOr<std::string> ValueOf(const Flag& flag,
                                      const Meaning& meaning) {
    const SettingInfo& setting = *meaning.settings[0];
    if (meaning.is_negated) {
      if (!flag.value.has_value()) return std::string("0");
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag.name, " takes no value; write --",
                       setting.name, "=0 or --", setting.name, "=1"));
    }
    if (flag.value.has_value()) return *flag.value;
    if (setting.is_switch()) {
      // Before settings of plugins were switches, users wrote "--keep_raw 1
      // program".
      if (!meaning.is_own && at_ < arguments_.size() &&
          (arguments_[at_] == "0" || arguments_[at_] == "1")) {
        return arguments_[at_++];
      }
      return std::string("1");
    }
    if (at_ == arguments_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag.name, " needs a value"));
    }
    const std::string& next = arguments_[at_++];
    if (!next.starts_with("--")) return next;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag.name, " needs a value, but ", next,
                     " follows; a value that begins with -- is written --",
                     flag.name, "=", next == "--" ? "--VALUE" : next));
  }

  void Note(std::string notice) {
    if (std::find(words_.notices.begin(), words_.notices.end(), notice) ==
        words_.notices.end()) {
      words_.notices.push_back(std::move(notice));
    }
  }

  const std::vector<std::string>& arguments_;
  const FlagRules& rules_;
  size_t at_ = 0;
  FlagWords words_;
};

}  // namespace

absl::StatusOr<FlagWords> ReadFlagWords(
    const std::vector<std::string>& arguments, const FlagRules& rules) {
  return Reader(arguments, rules).Read();
}

}  // namespace kymo::tools
