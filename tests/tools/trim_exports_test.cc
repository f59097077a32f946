// What exports of a trimmed log say: what those of the whole log do, or nothing.
#include <sqlite3.h>

#include <map>
#include <set>

#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

using Cells = std::map<std::string, std::string>;  // by column; "" for null

std::vector<Cells> ask(const std::string& database, const std::string& question) {
  std::vector<Cells> rows;
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(database.c_str(), &opened), SQLITE_OK);
  const auto add = [](void* out, int columns, char** values, char** names) {
    Cells& cells = static_cast<std::vector<Cells>*>(out)->emplace_back();
    for (int i = 0; i < columns; ++i) cells[names[i]] = values[i] == nullptr ? "" : values[i];
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(opened, question.c_str(), add, &rows, nullptr), SQLITE_OK)
      << question << ": " << sqlite3_errmsg(opened);
  sqlite3_close(opened);
  return rows;
}

class TrimExports : public TrimFixture {
 protected:
  // Every view, without what trimming adds at the end.
  std::string database(const std::string& data, const std::string& name) {
    const std::string file = folder_ / name;
    const Ended ended = karst({"audit", "export", "--format", "sqlite", "--to",
                               std::to_string(last_), "--data", data, "--out", file});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return file;
  }
  std::vector<std::string> positions(const std::string& data, const std::string& subject,
                                     std::uint64_t first) {
    std::vector<std::string> found;
    const Ended ended = karst({"audit", "export", "--format", "csv", "--to", std::to_string(last_),
                               "--subject", subject, "--data", data});
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const std::string& line : lines_of(ended.out))
      if (std::atoll(line.c_str()) >= static_cast<long long>(first))
        found.push_back(line.substr(0, line.find(',')));
    return found;
  }
};

// Equal in every column, but those of `lost` that are empty.
void expect_agree(const Cells& is, const Cells& was, const std::set<std::string>& lost) {
  for (const auto& [column, value] : was) {
    if (is.at(column).empty() && lost.contains(column)) continue;
    EXPECT_EQ(is.at(column), value) << column << " of " << was.begin()->second;
  }
}

TEST_F(TrimExports, ViewsSayWhatThoseOfTheWholeLogDo) {
  const std::string whole = database(long_story(), "whole");
  const std::set<std::string> lost = {
      "instancetypes", "disruptedpodcount",   "annotationtime",        "annotation", "tainttime",
      "taint",         "nodeterminationtime", "nodeterminationtimesec"};
  const std::string created = " FROM events WHERE type = 'NodeClaimCreateRequested' AND position ";
  std::size_t older = 0;
  for (const std::uint64_t first : {257U, 513U, 1025U}) {
    const std::string at = std::to_string(first);
    ASSERT_EQ(trim({"--before", at}).code, 0);
    const std::string trimmed = database(data_, "from-" + at);
    const std::string there =
        "SELECT * FROM nodeclaims WHERE nodeclaim NOT IN (SELECT substr(stream, 11) FROM events "
        "WHERE type = 'NodeClaimGone' AND position < " +
        at + ") ORDER BY nodeclaim";
    const auto was = ask(whole, there);
    const auto is = ask(trimmed, "SELECT * FROM nodeclaims ORDER BY nodeclaim");
    std::set<std::string> old;
    for (const Cells& row : ask(whole, "SELECT substr(stream, 11) AS name" + created + "< " + at))
      old.insert(row.at("name"));
    ASSERT_EQ(is.size(), was.size()) << first;
    for (std::size_t i = 0; i < was.size(); ++i) {
      const bool is_old = old.contains(was[i].at("nodeclaim"));
      expect_agree(is[i], was[i], is_old ? lost : std::set<std::string>());
      older += is_old ? 1 : 0;
    }
    const std::string since = " WHERE position >= " + at + " ORDER BY position";
    EXPECT_EQ(ask(trimmed, "SELECT * FROM events" + since),
              ask(whole, "SELECT * FROM events" + since));
    const auto decided = ask(whole, "SELECT * FROM decisions" + since);
    const auto known = ask(trimmed, "SELECT * FROM decisions" + since);
    ASSERT_EQ(known.size(), decided.size());
    for (std::size_t i = 0; i < known.size(); ++i)
      expect_agree(known[i], decided[i], {"build", "price_position"});
    ASSERT_EQ(archive().code, 0);
  }
  EXPECT_GT(older, 0U) << "claims that were there before the log begins";
}

TEST_F(TrimExports, SubjectsKeepWhatBelongsToThem) {
  const std::string whole = database(long_story(), "whole");
  const std::uint64_t first = 513;
  ASSERT_EQ(trim({"--before", std::to_string(first)}).code, 0);
  // Something of each sort that was there before, with the most events after it.
  const auto most = [&](const std::string& stream, const std::string& subject) {
    const auto rows =
        ask(whole, "SELECT " + subject + " AS subject FROM events WHERE stream LIKE '" + stream +
                       "/%' GROUP BY stream HAVING min(position) < " + std::to_string(first) +
                       " AND max(position) > 520 ORDER BY count(*) DESC LIMIT 3");
    EXPECT_FALSE(rows.empty()) << stream;
    return rows;
  };
  std::vector<Cells> subjects = most("nodeclaim", "stream");
  const auto nodes = most("node", "stream");
  const auto pools = ask(whole, "SELECT nodepool FROM nodeclaims");
  ASSERT_FALSE(nodes.empty() || pools.empty());
  for (const Cells& pod : most("pod",
                               "max('pod/' || (payload ->> '$.namespace_name') || '/' || "
                               "(payload ->> '$.name'))"))
    subjects.push_back(pod);
  subjects.push_back(nodes[0]);
  subjects.push_back({{"subject", "nodepool/" + pools[0].at("nodepool")}});
  for (const Cells& row : subjects) {
    const std::string subject = row.at("subject");
    const auto was = positions(long_story(), subject, first);
    EXPECT_FALSE(was.empty()) << subject;
    EXPECT_EQ(positions(data_, subject, first), was) << subject;
    const Ended trail = karst(
        {"audit", "export", "--to", std::to_string(last_), "--subject", subject, "--data", data_});
    EXPECT_EQ(lines_of(trail.out).size(), was.size() + 2) << subject;
  }
}

}  // namespace
}  // namespace karst::tests
