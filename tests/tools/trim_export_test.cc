// Exports of a log that was trimmed say what those of the whole log say, or leave it empty.
#include <unistd.h>

#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

using Cells = std::map<std::string, std::string>;  // by column

// RFC 4180.
std::vector<Cells> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string& cell = lines.back().back();
    if (csv[i] == '"' && quoted && i + 1 < csv.size() && csv[i + 1] == '"')
      cell += csv[++i];
    else if (csv[i] == '"')
      quoted = !quoted;
    else if (csv[i] == ',' && !quoted)
      lines.back().emplace_back();
    else if (csv[i] == '\n' && !quoted)
      lines.emplace_back(1);
    else if (csv[i] != '\r')
      cell += csv[i];
  }
  std::vector<Cells> rows;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), lines[0].size());
    rows.emplace_back();
    for (std::size_t j = 0; j < std::min(lines[i].size(), lines[0].size()); ++j)
      rows.back()[lines[0][j]] = lines[i][j];
  }
  return rows;
}

class TrimExport : public TrimFixture {
 protected:
  std::vector<Cells> view(const std::string& data, std::vector<std::string> more) {
    std::vector<std::string> command = {"audit", "export", "--data", data, "--format", "csv"};
    command.insert(command.end(), more.begin(), more.end());
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return rows_of(ended.out);
  }
  // Every row of what is left is one of the whole, `key` by `key`; how many cells it has lost.
  std::size_t lost(const std::vector<Cells>& left, const std::vector<Cells>& whole,
                   const std::string& key, const std::set<std::string>& may_be_lost) {
    std::map<std::string, Cells> by_key;
    for (const Cells& row : whole) by_key[row.at(key)] = row;
    std::size_t cells = 0;
    for (const Cells& row : left) {
      for (const auto& [column, value] : row) {
        const std::string& was = by_key[row.at(key)][column];
        if (value == was) continue;
        ++cells;
        EXPECT_EQ(value, "") << column << " of " << row.at(key) << " was " << was;
        EXPECT_TRUE(may_be_lost.contains(column)) << column << " of " << row.at(key);
      }
    }
    return cells;
  }
};

TEST_F(TrimExport, ClaimsAreAsTheyWere) {
  const auto whole = view(long_story(), {"--view", "nodeclaims"});
  ASSERT_GT(whole.size(), 4U);
  for (const std::string place : {"257", "513", "769", "1025"}) {
    ASSERT_EQ(trim({"--before", place}).code, 0);
    const auto left = view(data_, {"--view", "nodeclaims"});
    // Those that were gone by then have no row.
    EXPECT_GE(left.size(), summary({"state", "claims"}).size());
    lost(left, whole, "nodeclaim",
         {"instancetypes", "disruptedpodcount", "annotationtime", "tainttime",
          "nodeterminationtime", "nodeterminationtimesec"});
    for (const Cells& row : left)
      EXPECT_FALSE(row.at("createdtime").empty() || row.at("nodepool").empty());
    ASSERT_EQ(archive().code, 0);
  }
}

TEST_F(TrimExport, DecisionsKnowTheirSettings) {
  const auto whole = view(long_story(), {"--view", "decisions"});
  ASSERT_EQ(trim({"--before", "513"}).code, 0);
  const auto left = view(data_, {"--view", "decisions", "--to", std::to_string(last_)});
  ASSERT_GT(left.size(), 4U);
  lost(left, whole, "position", {"build", "price_position", "price_age_millis"});
  for (const Cells& row : left)
    EXPECT_FALSE(row.at("config").empty() || row.at("decision_version").empty());
}

TEST_F(TrimExport, SubjectsAreFollowedFromBefore) {
  std::vector<std::string> subjects = {"nodepool/default"};
  for (const Json& claim : summary({"state", "claims"}))
    subjects.push_back("nodeclaim/" + claim["name"].get<std::string>());
  ASSERT_GT(subjects.size(), 2U);
  ASSERT_EQ(trim({"--before", "513"}).code, 0);
  const auto positions = [&](const std::string& data, const std::string& subject) {
    std::vector<std::string> found;
    for (const Cells& row : view(data, {"--subject", subject, "--to", std::to_string(last_)}))
      if (std::stoull(row.at("position")) >= 513) found.push_back(row.at("position"));
    return found;
  };
  for (const std::string& subject : subjects)
    EXPECT_EQ(positions(data_, subject), positions(long_story(), subject)) << subject;
}

}  // namespace
}  // namespace karst::tests
