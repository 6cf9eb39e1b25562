// value_words.h - the words that a flag takes, for the shells' completion.
//
//   const ValueWords values = ValueWordsOf(flag);
//   for (const std::string& word : values.words) Offer(word);
#ifndef KYMO_TOOLS_COMMAND_LINE_VALUE_WORDS_H_
#define KYMO_TOOLS_COMMAND_LINE_VALUE_WORDS_H_

#include <string>
#include <vector>

#include "profiler/plugin/settings.h"

namespace kymo::tools {

struct ValueWords {
  std::vector<std::string> words;  // none: the flag takes something else
  bool is_list = false;            // takes several, separated by commas
};

// Of a flag that was declared with setting::Word or setting::Words.
ValueWords ValueWordsOf(const SettingInfo& flag);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_VALUE_WORDS_H_
