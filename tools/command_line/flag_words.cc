#include "tools/command_line/flag_words.h"

#include <algorithm>
#include <cstddef>

#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::tools {
namespace {

// A word that begins like a flag, apart.
struct Flag {
  std::string name;
  std::string value;
  bool has_value = false;
};

bool LooksLikeFlag(const std::string& word) {
  return word.size() >= 2 && word[0] == '-';
}

Flag Split(const std::string& word) {
  const size_t dashes = word[1] == '-' ? 2 : 1;
  const size_t equals = word.find('=');
  Flag flag;
  flag.name = word.substr(dashes, equals - dashes);
  flag.has_value = equals != std::string::npos;
  if (flag.has_value) flag.value = word.substr(equals + 1);
  return flag;
}

class Reader {
 public:
  Reader(const std::vector<std::string>& arguments, const FlagRules& rules)
      : arguments_(arguments), rules_(rules) {}

  absl::StatusOr<FlagWords> Read() {
    SetDefaults();
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_++];
      if (word == "--") break;
      if (!LooksLikeFlag(word)) {
        words_.others.push_back(word);
        if (rules_.place == FlagPlace::kFirst) break;
        continue;
      }
      if (word == "-h" || word == "--help" || word == "-help") {
        words_.help = true;
        return std::move(words_);
      }
      KYMO_RETURN_IF_ERROR(Take(Split(word)));
    }
    words_.others.insert(words_.others.end(), arguments_.begin() + at_,
                         arguments_.end());
    return std::move(words_);
  }

 private:
  void SetDefaults() {
    for (const OwnFlag& flag : rules_.flags) {
      absl::CommandLineFlag* const global =
          absl::FindCommandLineFlag(flag.name);
      std::string error;
      global->ParseFrom(global->DefaultValue(), &error);
    }
  }

  const OwnFlag* Find(std::string_view name) const {
    for (const OwnFlag& flag : rules_.flags) {
      if (flag.name == name) return &flag;
    }
    return nullptr;
  }

  // The switch that `name` turns off; null if it is none of that form.
  const OwnFlag* FindNegated(std::string_view name) const {
    if (!name.starts_with("no")) return nullptr;
    const OwnFlag* const flag = Find(name.substr(2));
    return flag != nullptr && flag->value == nullptr ? flag : nullptr;
  }

  absl::Status Take(Flag flag) {
    const OwnFlag* own = Find(flag.name);
    const bool negated = own == nullptr && FindNegated(flag.name) != nullptr;
    if (negated) own = FindNegated(flag.name);
    if (own == nullptr && !rules_.plugin_options().contains(flag.name)) {
      return Unknown(flag.name);
    }
    if (!flag.has_value) {
      if (own != nullptr && own->value == nullptr) {
        flag.value = negated ? "false" : "true";
      } else if (at_ < arguments_.size()) {
        flag.value = arguments_[at_++];
      } else {
        return absl::InvalidArgumentError(
            absl::StrCat("--", flag.name, " needs a value"));
      }
    }
    if (own == nullptr) {
      words_.settings[flag.name] = flag.value;
      return absl::OkStatus();
    }
    KYMO_RETURN_IF_ERROR(Set(*own, flag.value));
    return rules_.on_flag ? rules_.on_flag(own->name) : absl::OkStatus();
  }

  static absl::Status Set(const OwnFlag& flag, const std::string& value) {
    std::string error;
    if (absl::FindCommandLineFlag(flag.name)->ParseFrom(value, &error)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag.name, " cannot be '", value, "'",
                     error.empty() ? "" : ": ", error));
  }

  absl::Status Unknown(std::string_view name) const {
    std::vector<std::string> names = {"--help"};
    for (const OwnFlag& flag : rules_.flags) {
      names.push_back(absl::StrCat("--", flag.name));
    }
    for (const std::string& option : rules_.plugin_options()) {
      names.push_back(absl::StrCat("--", option));
    }
    std::sort(names.begin(), names.end());
    return absl::InvalidArgumentError(
        absl::StrCat("there is no flag --", ToAbsl(name),
                     "; it is one of: ", absl::StrJoin(names, " ")));
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

void AddOptionNames(const PluginInfo& info, std::set<std::string>& names) {
  for (const PluginOption& option : info.options) names.insert(option.name);
}

}  // namespace kymo::tools
