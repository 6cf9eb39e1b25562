#include "tools/command_line/manual.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/command_line/completions.h"
#include "tools/command_line/manual_files.h"

namespace kymo::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Own {
  int rows = 30;
  std::string folder;
  bool loud = false;
};

struct Plugin {
  bool sync = true;
  int capture = 3;
  bool pool = false;
  int hidden = 0;
};

class ManualTest : public testing::Test {
 protected:
  ManualTest()
      : own_("", {{.name = "rows",
                   .value = setting::Integer(&Own::rows, -1, 99),
                   .purpose = "Rows of the table.",
                   .topic = "table",
                   .is_common = true},
                  {.name = "folder",
                   .value = setting::Text(&Own::folder),
                   .purpose = "Where files go.",
                   .hint = "DIR",
                   .topic = "files"},
                  {.name = "loud",
                   .value = setting::Switch(&Own::loud),
                   .purpose = "Say more.",
                   .topic = "files"}}),
        plugins_("cuda", {{.name = "sync",
                           .value = setting::Switch(&Plugin::sync),
                           .purpose = "Record waits.",
                           .is_common = true},
                          {.name = "capture",
                           .value = setting::Integer(&Plugin::capture),
                           .purpose = "Another's one day.",
                           .topic = "nvtx"},
                          {.name = "pool",
                           .value = setting::Switch(&Plugin::pool),
                           .purpose = "Record pools.",
                           .topic = "memory"},
                          {.name = "hidden",
                           .value = setting::Integer(&Plugin::hidden),
                           .purpose = "Not for users.",
                           .has_flag = false}}) {
    info_.name = "cuda";
    info_.purpose = "kernels";
    info_.settings = plugins_.infos();
    manual_.name = "prog - runs";
    manual_.synopsis = "prog [flags]\nprog";
    manual_.description = {"It runs."};
    manual_.examples = "prog --rows=3";
    manual_.own = own_.infos();
    manual_.groups = {{"ACTIVITIES", {&info_}}};
    manual_.end = "\nEXIT STATUS\n    0\n";
  }

  std::string Page(const std::string& topic) const {
    const auto page = ManualPage(manual_, topic);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? *page : "";
  }

  const SettingTable<Own> own_;
  const SettingTable<Plugin> plugins_;
  PluginInfo info_;
  Manual manual_;
};

TEST_F(ManualTest, TheShortPageHasCommonFlagsAndExamples) {
  EXPECT_EQ(Page(""),
            "NAME\n"
            "    prog - runs\n"
            "\n"
            "SYNOPSIS\n"
            "    prog [flags]\n"
            "    prog\n"
            "\n"
            "EXAMPLES\n"
            "    prog --rows=3\n"
            "\n"
            "FLAGS\n"
            "    --rows=N\n"
            "        Rows of the table. It takes a whole number from -1 to 99. "
            "Default: 30.\n"
            "    --cuda_sync\n"
            "        Record waits. On by default: --nocuda_sync switches it "
            "off.\n"
            "\n"
            "MORE\n"
            "    --help=all shows all flags, --help=TOPIC those of one topic: "
            "cuda, files,\n"
            "    memory, nvtx, table.\n");
}

TEST_F(ManualTest, AllIsEverything) {
  EXPECT_THAT(Page("all"),
              AllOf(HasSubstr("It runs."), HasSubstr("    --rows=N\n"),
                    HasSubstr("    --folder=DIR\n        Where files go.\n"),
                    HasSubstr("    --loud\n        Say more.\n"),
                    HasSubstr("\nACTIVITIES\n    cuda\n        kernels.\n"),
                    HasSubstr("        --cuda_capture=N\n"),
                    HasSubstr("\nEXIT STATUS\n")));
  EXPECT_THAT(Page("all"), Not(HasSubstr("cuda_hidden")));
}

TEST_F(ManualTest, FlagsStandUnderTheirTopic) {
  EXPECT_THAT(
      Page("all"),
      HasSubstr(
          "    cuda\n"
          "        kernels.\n"
          "        --cuda_sync\n"
          "            Record waits. On by default: --nocuda_sync switches it "
          "off.\n"
          "    nvtx\n"
          "        Further flags of cuda.\n"
          "        --cuda_capture=N\n"
          "            Another's one day. It takes a whole number. Default: "
          "3.\n"
          "    memory\n"
          "        Further flags of cuda.\n"
          "        --cuda_pool\n"
          "            Record pools.\n"));
}

TEST_F(ManualTest, ATopicIsAPluginOrAWordOfFlags) {
  EXPECT_EQ(Page("files"),
            "    --folder=DIR\n        Where files go.\n"
            "    --loud\n        Say more.\n");
  EXPECT_THAT(Page("cuda"),
              AllOf(HasSubstr("--cuda_sync"), HasSubstr("--cuda_capture"),
                    Not(HasSubstr("--rows"))));
  EXPECT_EQ(
      Page("nvtx"),
      "    --cuda_capture=N\n"
      "        Another's one day. It takes a whole number. Default: 3.\n");
}

TEST_F(ManualTest, UnknownTopicsAreAnsweredWithTheKnownOnes) {
  EXPECT_EQ(ManualPage(manual_, "weather").status().message(),
            "--help has no topic 'weather'; it is one of: all, cuda, files, "
            "memory, nvtx, table");
}

TEST_F(ManualTest, ManPagesHaveEveryFlag) {
  manual_.examples = "prog a\\b\n.dots 'first'";
  EXPECT_EQ(ManPage(manual_, "prog-run", "1.2.3"),
            ".TH PROG\\-RUN 1 \"\" \"kymo 1.2.3\" \"Kymo\"\n"
            ".SH NAME\n"
            "prog\\-run \\- runs\n"
            ".SH SYNOPSIS\n"
            ".nf\n"
            "prog [flags]\n"
            "prog\n"
            ".fi\n"
            ".SH DESCRIPTION\n"
            ".PP\n"
            "It runs.\n"
            ".SH EXAMPLES\n"
            ".nf\n"
            "prog a\\eb\n"
            "\\&.dots 'first'\n"
            ".fi\n"
            ".SH FLAGS\n"
            ".TP\n"
            "\\fB\\-\\-rows\\fR=\\fIN\\fR\n"
            "Rows of the table. It takes a whole number from \\-1 to 99. "
            "Default: 30.\n"
            ".TP\n"
            "\\fB\\-\\-folder\\fR=\\fIDIR\\fR\n"
            "Where files go.\n"
            ".TP\n"
            "\\fB\\-\\-loud\\fR\n"
            "Say more.\n"
            ".SH ACTIVITIES\n"
            ".SS cuda\n"
            "kernels.\n"
            ".TP\n"
            "\\fB\\-\\-cuda_sync\\fR\n"
            "Record waits. On by default: \\-\\-nocuda_sync switches it "
            "off.\n"
            ".TP\n"
            "\\fB\\-\\-cuda_capture\\fR=\\fIN\\fR\n"
            "Another's one day. It takes a whole number. Default: 3.\n"
            ".TP\n"
            "\\fB\\-\\-cuda_pool\\fR\n"
            "Record pools.\n"
            ".SH EXIT STATUS\n"
            ".nf\n"
            "0\n"
            ".fi\n"
            ".SH DOCUMENTATION\n"
            ".nf\n"
            "Guides, such as docs/report.md, are in the sources of Kymo. "
            "Packages have\n"
            "them in share/doc/kymo/docs, beside the bin that kymo is in.\n"
            ".fi\n"
            ".SH SEE ALSO\n"
            "\\fBkymo\\fR(1), \\fBkymo\\-profile\\fR(1), "
            "\\fBkymo\\-report\\fR(1), \\fBkymo\\-gate\\fR(1), "
            "\\fBkymo\\-compare\\fR(1)\n");
}

TEST_F(ManualTest, APageDoesNotReferToItself) {
  const std::string page = ManPage(manual_, "kymo", "1.2.3");
  EXPECT_THAT(page, HasSubstr("\n\\fBkymo\\-profile\\fR(1), "));
  EXPECT_THAT(page, Not(HasSubstr("\\fBkymo\\fR")));
}

TEST_F(ManualTest, FlagWordsAreWhatAShellCompletes) {
  EXPECT_EQ(FlagWordsOf(manual_),
            "--rows= --folder= --loud --cuda_sync --cuda_capture= --cuda_pool");
}

struct Choices {
  int one = 0;
  std::vector<std::string> several;
  std::string any;
};

TEST_F(ManualTest, ShellsOfferTheWordsThatAFlagTakes) {
  const SettingTable<Choices> choices(
      "", {{.name = "one",
            .value = setting::Word(&Choices::one, {{"red", 1}, {"blue", 0}}),
            .purpose = "A colour."},
           {.name = "several",
            .value = setting::Words(
                &Choices::several,
                setting::SameWords(std::vector<std::string>{"a", "b"})),
            .purpose = "Letters."},
           {.name = "any",
            .value = setting::Text(&Choices::any),
            .purpose = "Anything."}});
  CommandManuals manuals;
  manuals.report.own = choices.infos();
  const std::string bash = BashCompletion(manuals);
  EXPECT_THAT(bash, HasSubstr("    'report --one') values='red blue' ;;\n"
                              "    'report --several') values='a b' list=1 ;;\n"
                              "  esac\n"));
  const std::string zsh = ZshCompletion(manuals);
  EXPECT_THAT(zsh,
              AllOf(HasSubstr("'--one=[A colour]:WORD:(red blue)'"),
                    HasSubstr("'--several=[Letters]:WORDS:_sequence compadd - "
                              "a b'"),
                    HasSubstr("'--any=[Anything]:TEXT:_files'")));
  const std::string fish = FishCompletion(manuals);
  EXPECT_THAT(fish,
              AllOf(HasSubstr("-l one -x -a 'red blue' -d 'A colour'\n"),
                    HasSubstr("-l several -x -a '(__fish_append , a b)' -d"),
                    HasSubstr("-l any -r -d 'Anything'\n")));
}

TEST_F(ManualTest, ZshAndFishKnowWhatFlagsAreFor) {
  CommandManuals manuals = {manual_, manual_, manual_, manual_};
  manuals.report.groups.clear();
  manuals.gate.own = {};
  const std::string zsh = ZshCompletion(manuals);
  EXPECT_EQ(zsh.find("#compdef kymo\n"), 0u);
  EXPECT_THAT(zsh, HasSubstr("    '--rows=[Rows of the table]:N:_files' \\\n"
                             "    '--folder=[Where files go]:DIR:_files' \\\n"
                             "    '--loud[Say more]' \\\n"
                             "    '--cuda_sync[Record waits]' \\\n"
                             "    '--cuda_capture=[Another'\\''s one day]"
                             ":N:_files' \\\n"
                             "    '--cuda_pool[Record pools]' \\\n"
                             "    '(-)1: :{ _command_names -e }'"));
  EXPECT_THAT(zsh, HasSubstr("    '--loud[Say more]' \\\n"
                             "    '*:file:_files'\n"));
  const std::string fish = FishCompletion(manuals);
  EXPECT_THAT(fish, HasSubstr("\nset -g __kymo_flags_with_values --rows "
                              "--folder --cuda_capture\n"));
  EXPECT_THAT(fish, HasSubstr("complete -c kymo -n '__kymo_is start profile' "
                              "-l cuda_capture -r -d 'Another\\'s one day'\n"));
  EXPECT_THAT(fish, HasSubstr("complete -c kymo -n '__kymo_is report' "
                              "-l loud -d 'Say more'\n"));
  EXPECT_THAT(fish, Not(HasSubstr("'__kymo_is report' -l cuda_")));
  EXPECT_THAT(fish, Not(HasSubstr("'__kymo_is gate' -l loud")));
  EXPECT_THAT(fish, HasSubstr("'__kymo_is compare' -l loud"));
}

}  // namespace
}  // namespace kymo::tools
