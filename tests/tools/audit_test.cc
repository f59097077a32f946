// What an auditor does with the program: export, take home, verify, and be told of any change.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/auditor.h"
#include "tests/tools/json.h"
#include "tests/tools/program.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

class Audit : public Auditor {};

TEST_F(Audit, AWholeTrailIsProven) {
  const std::string key = new_key("key");
  const std::string trail =
      made("trail", {"audit", "export", "--data", story(), "--signing-key", folder_ / "key"});
  const Ended known = verify({"--key", key, trail});
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_TRUE(says(known, "none missing, none added")) << known.out;
  EXPECT_TRUE(known.out.ends_with("\nproven\n")) << known.out;
  const Ended unknown = verify({trail});
  EXPECT_EQ(unknown.code, 0) << unknown.err;
  EXPECT_TRUE(unknown.out.ends_with("\nconsistent, signer unknown\n")) << unknown.out;
  const Ended other = verify({"--key", new_key("other"), trail});
  EXPECT_EQ(other.code, 1) << other.out;
  EXPECT_TRUE(says(other, "not signed with the given key")) << other.err;
}

TEST_F(Audit, AChangedTrailIsNot) {
  const std::string trail = made("trail", {"audit", "export", "--data", story()});
  const std::string bytes = read_file(trail);
  for (int part = 0; part < 20; ++part) {
    const std::size_t at = bytes.size() / 20 * part + 7;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_file(folder_ / "changed", changed);
    const Ended ended = verify({folder_ / "changed"});
    EXPECT_TRUE(ended.code == 1 || ended.code == 2) << at << ": " << ended.out;
    EXPECT_TRUE(ended.out.starts_with("not proven: ")) << "at byte " << at << ended.out;
    EXPECT_EQ(lines_of(ended.out).size(), 1U) << "at byte " << at;
  }
  write_file(folder_ / "cut", bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(verify({folder_ / "cut"}).code, 1);
}

TEST_F(Audit, APartSaysThatItIsOne) {
  const std::string trail = made("trail", {"audit", "export", "--data", story(), "--kind",
                                           "PodObserved", "--redact", "workloads"});
  EXPECT_EQ(read_file(trail).find("\"web-"), std::string::npos);
  const Ended ended = verify({trail});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(says(ended, "not proven  that nothing is left out; asked for was: kind=PodObserved"))
      << ended.out;
  EXPECT_TRUE(says(ended, "payloads, which are withheld (workloads)")) << ended.out;
}

TEST_F(Audit, OneEventIsProven) {
  const std::string proof = made("proof", {"audit", "prove", "7", "--data", story()});
  EXPECT_EQ(lines_of(read_file(proof)).size(), 3U);
  const Ended ended = verify({proof});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(says(ended, "proven      1 events are in the log")) << ended.out;
  EXPECT_EQ(karst({"audit", "prove", "--data", story()}).code, 2);
  EXPECT_EQ(karst({"audit", "prove", "7", "--from", "3", "--data", story()}).code, 2);
  EXPECT_EQ(karst({"audit", "prove", "99999999", "--data", story()}).code, 2);
}

// A log, its checkpoint, and the same log after another run.
TEST_F(Audit, GrowthIsProvenAgainstAKeptCheckpoint) {
  const std::string data = folder_ / "data";
  const std::vector<std::string> run = {"run",     "--embedded", "--for",  "2s",
                                        "--speed", "20",         "--data", data};
  ASSERT_EQ(karst(run).code, 0);
  const std::string old = made("old", {"audit", "checkpoint", "--data", data});
  ASSERT_EQ(karst(run).code, 0);
  const std::string key = Json::parse(lines_of(karst({"audit", "export", "--data", data}).out)[0])
                              .at("key")
                              .get<std::string>();
  ASSERT_NE(key, "") << "run --embedded makes a key, and exports find it";
  const std::string size = lines_of(read_file(old)).at(1);
  (void)new_key("another");
  const std::string proof = made("proof", {"audit", "prove", "--from", size, "--data", data});
  const std::string trail = made("trail", {"audit", "export", "--data", data});
  ASSERT_EQ(
      karst({"audit", "export", "--format", "tiles", "--data", data, "--out", folder_ / "tiles"})
          .code,
      0);
  for (const std::string& what : {proof, trail, folder_ / "tiles"}) {
    const Ended ended = verify({"--key", key, "--since", old, what});
    EXPECT_EQ(ended.code, 0) << what << ended.err;
    EXPECT_TRUE(says(ended, "since the checkpoint of size " + size + " the log only grew"))
        << ended.out;
  }
  // A head that another key signed counts as kept, and that is said; one of a tree that never was
  // is found, whatever it is held against; so is one that is newer than what is shown.
  const std::string by_another = made(
      "by_another", {"audit", "checkpoint", "--data", data, "--signing-key", folder_ / "another"});
  const Ended kept = verify({"--key", key, "--since", by_another, trail});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_TRUE(says(kept, "not proven  who signed the checkpoint of --since")) << kept.out;
  auto forked = lines_of(read_file(by_another));
  forked.at(2)[0] = forked.at(2)[0] == 'A' ? 'B' : 'A';
  write_file(folder_ / "forked", forked[0] + "\n" + forked[1] + "\n" + forked[2] + "\n");
  for (const std::string& what : {proof, trail, folder_ / "tiles", by_another}) {
    const Ended fork = verify({"--since", folder_ / "forked", what});
    EXPECT_EQ(fork.code, 1) << what << fork.out;
    EXPECT_TRUE(says(fork, "the past was rewritten")) << fork.err;
  }
  const Ended newer = verify({"--since", by_another, old});
  EXPECT_EQ(newer.code, 2);
  EXPECT_TRUE(says(newer, "of a larger tree")) << newer.err;
  const Ended blank = verify({"--key", "", trail});
  EXPECT_EQ(blank.code, 2);
  EXPECT_TRUE(says(blank, "--key: is empty")) << blank.err;
  EXPECT_EQ(verify({data}).code, 2);
  // Of another log.
  const std::string others = made("others", {"audit", "checkpoint", "--data", story()});
  EXPECT_EQ(verify({"--since", others, trail}).code, 1);
  const Ended missing = verify({"--since", folder_ / "none", trail});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.err.find("--since") < missing.err.find(folder_ / "none")) << missing.err;
  EXPECT_EQ(missing.err.find(trail), std::string::npos) << missing.err;
  EXPECT_EQ(verify({"--key", key, others}).code, 1);
  EXPECT_EQ(verify({others}).code, 0);
  const std::string tile = folder_ / "tiles/tile/0/000";
  std::string bytes = read_file(tile);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  write_file(tile, bytes);
  const Ended damaged = verify({folder_ / "tiles"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_TRUE(says(damaged, "tile/0/000: it has other hashes")) << damaged.err;
}

// A folder of tiles is one log's, and its tree only grows.
TEST_F(Audit, TilesOfAnotherLogAreNotWrittenOver) {
  const std::string data = folder_ / "data", tiles = folder_ / "tiles";
  const std::vector<std::string> run = {"run",     "--embedded", "--for",  "1s",
                                        "--speed", "20",         "--data", data};
  const auto take = [&](const std::string& log, const std::string& to) {
    return karst({"audit", "export", "--format", "tiles", "--data", log, "--out", to});
  };
  ASSERT_EQ(karst(run).code, 0);
  ASSERT_EQ(take(data, tiles).code, 0);
  const std::string head = read_file(tiles + "/checkpoint");
  const Ended other = take(story(), tiles);
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(says(other, "holds the tiles of karst.dev/")) << other.err;
  EXPECT_EQ(read_file(tiles + "/checkpoint"), head);
  EXPECT_EQ(verify({tiles}).code, 0);
  std::filesystem::copy(tiles, folder_ / "cut", std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder_ / "cut/checkpoint");
  const Ended unnamed = take(story(), folder_ / "cut");
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_TRUE(says(unnamed, "its tiles are those of another log")) << unnamed.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cut/checkpoint"));
  EXPECT_EQ(take(data, folder_ / "cut").code, 0) << "cut short, and goes on";

  std::filesystem::copy(data, folder_ / "older", std::filesystem::copy_options::recursive);
  ASSERT_EQ(karst(run).code, 0);
  const Ended grown = take(data, tiles);
  EXPECT_EQ(grown.code, 0) << grown.err;
  EXPECT_EQ(verify({tiles}).code, 0);
  const Ended older = take(folder_ / "older", tiles);
  EXPECT_EQ(older.code, 2);
  EXPECT_TRUE(says(older, "holds a later tree of this log")) << older.err;
  auto lines = lines_of(read_file(tiles + "/checkpoint"));
  lines.at(2)[0] = lines.at(2)[0] == 'A' ? 'B' : 'A';
  write_file(tiles + "/checkpoint", lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n");
  EXPECT_TRUE(says(take(data, tiles), "is not the beginning of this log's"));
  write_file(tiles + "/checkpoint", "what\n");
  EXPECT_TRUE(says(take(data, tiles), "its file 'checkpoint' is none"));
}

// Others read and serve the folder meanwhile: a name always has a whole file, and what is there
// already is not written again.
TEST_F(Audit, TilesAreWrittenAsideAndOnce) {
  namespace fs = std::filesystem;
  const std::string tiles = folder_ / "tiles";
  const auto take = [&] {
    return karst({"audit", "export", "--format", "tiles", "--data", story(), "--out", tiles}).code;
  };
  ASSERT_EQ(take(), 0);
  const std::string full = tiles + "/tile/0/000", bundle = tiles + "/tile/entries/000";
  const std::string good = read_file(full);
  const fs::file_time_type long_ago = fs::last_write_time(full) - std::chrono::hours(5);
  fs::last_write_time(bundle, long_ago);
  // Who opened the file before goes on reading what it opened.
  const std::string other(good.rbegin(), good.rend());
  write_file(full, good.substr(0, 32) + other.substr(32));
  fs::create_hard_link(full, folder_ / "opened");
  ASSERT_EQ(take(), 0);
  EXPECT_EQ(read_file(full), good);
  EXPECT_EQ(read_file(folder_ / "opened"), good.substr(0, 32) + other.substr(32));
  EXPECT_EQ(fs::last_write_time(bundle), long_ago) << "it had these bytes";
  EXPECT_EQ(verify({tiles}).code, 0);
  // One that fails leaves what was there.
  fs::remove(bundle);
  fs::create_directories(bundle + "/mine");
  EXPECT_EQ(take(), 4);
  EXPECT_TRUE(fs::is_directory(bundle + "/mine"));
  for (const auto& entry : fs::directory_iterator(tiles + "/tile/entries"))
    EXPECT_NE(entry.path().extension(), ".part");
  fs::remove_all(bundle);
  EXPECT_EQ(take(), 0);
  EXPECT_EQ(verify({tiles}).code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(tiles))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

TEST_F(Audit, TheVerdictIsOnStdoutAndNamesEachThingOnce) {
  const std::string key = new_key("key");
  const std::string trail =
      made("trail", {"audit", "export", "--data", story(), "--signing-key", folder_ / "key"});
  EXPECT_EQ(verify({"--key", key + " ", trail}).code, 0) << "a blank from copying";
  write_file(folder_ / "public", " \t" + key + " \r\n");
  EXPECT_NE(verify({"--key", folder_ / "public", trail}).code, 0);
  write_file(folder_ / "public", key + " \r\n");
  EXPECT_EQ(verify({"--key", folder_ / "public", trail}).code, 0);
  // What holds is said first, and then what does not.
  const std::string others = made("others", {"audit", "checkpoint", "--data", story()});
  auto lines = lines_of(read_file(others));
  lines.at(2)[0] = lines.at(2)[0] == 'A' ? 'B' : 'A';
  write_file(folder_ / "forked", lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n");
  const Ended forked = verify({"--since", folder_ / "forked", trail});
  EXPECT_EQ(forked.code, 1);
  EXPECT_TRUE(says(forked, "proven      all ")) << forked.out;
  EXPECT_TRUE(lines_of(forked.out).back().starts_with("not proven: the tree of size"))
      << forked.out;
  const std::string none = folder_ / "none";
  const Ended missing = verify({none});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err.find(none), missing.err.rfind(none)) << missing.err;
  EXPECT_TRUE(says(missing, "cannot be read: expected what")) << missing.err;
}

// What cannot be read is no forgery: an auditor's script must not take it for one.
TEST_F(Audit, ATileThatCannotBeReadIsNotCalledUntrue) {
  const std::string tiles = folder_ / "tiles";
  ASSERT_EQ(karst({"audit", "export", "--data", story(), "--format", "tiles", "--out", tiles}).code,
            0);
  ASSERT_EQ(verify({tiles}).code, 0);
  std::string tile;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tiles + "/tile/0"))
    if (entry.is_regular_file()) tile = entry.path();
  ASSERT_FALSE(tile.empty());
  std::filesystem::rename(tile, folder_ / "aside");
  const Ended missing = verify({tiles});
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(says(missing, "it is not there")) << missing.err << missing.out;
  // What can be read and is no tile is untrue, whatever is in its place.
  std::filesystem::create_directory(tile);
  EXPECT_EQ(verify({tiles}).code, 1);
  std::filesystem::remove(tile);
  std::filesystem::copy(folder_ / "aside", tile);
  std::filesystem::resize_file(tile, 18 << 20);
  EXPECT_EQ(verify({tiles}).code, 1);
  std::filesystem::remove(tile);
  std::filesystem::create_symlink("/proc/self/mem", tile);  // EIO at its first byte
  EXPECT_EQ(verify({tiles}).code, 2);
  std::filesystem::remove(tile);
  std::filesystem::create_symlink(tile, tile);  // to itself: ELOOP, as EACCES of who is not root
  const Ended unreadable = verify({tiles});
  EXPECT_EQ(unreadable.code, 2) << unreadable.out;
  EXPECT_TRUE(says(unreadable, tile)) << unreadable.err;
}

// A part that has everything leaves no positions over.
TEST_F(Audit, APartFromTheFirstPositionOnIsAllOfIt) {
  const std::string trail = made("trail", {"audit", "export", "--data", story(), "--from", "1"});
  const Ended ended = verify({trail});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(says(ended, "positions 1 to 0")) << ended.out;
  EXPECT_TRUE(says(ended, "asked for was: from=1; that is all of the log")) << ended.out;
}

// What was left behind when a log was put back from a copy: the index of the other history is not
// believed, and its signed head is not signed over.
TEST_F(Audit, NothingIsProvenOfTwoHistories) {
  const std::string data = folder_ / "data";
  copy_of_another_history(story(), data);
  std::filesystem::rename(data + "/checkpoint", folder_ / "signed");
  const Ended left = karst({"audit", "checkpoint", "--data", data});
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_TRUE(says(left, "another history of this log")) << left.err;
  EXPECT_NE(left.out, made("first", {"audit", "checkpoint", "--data", story()}));
  std::filesystem::remove_all(data + "/index");
  const Ended own = karst({"audit", "checkpoint", "--data", data});
  EXPECT_EQ(own.out, left.out) << "the head of the log itself";

  std::filesystem::rename(folder_ / "signed", data + "/checkpoint");
  const std::vector<std::vector<std::string>> commands = {
      {"checkpoint"},
      {"prove", "1"},
      {"prove", "--from", "10"},
      {"export"},
      {"export", "--kind", "PodObserved"},
      {"export", "--format", "tiles", "--out", folder_ / "tiles"},
      {"export", "--format", "sqlite", "--out", folder_ / "rows"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.begin(), "audit");
    command.insert(command.end(), {"--data", data});
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 2) << command[1] << ended.err;
    EXPECT_EQ(ended.out, "") << command[1];
    EXPECT_TRUE(says(ended, data + "/checkpoint: a head of this log was signed at size "))
        << command[1] << ended.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "tiles/checkpoint"));
  EXPECT_EQ(karst({"audit", "export", "--data", data, "--format", "csv"}).code, 0)
      << "what signs no head is there to be looked at";
}

TEST_F(Audit, AKeyOfARunIsInItsLogOnce) {
  const std::string key = new_key("key"), second = new_key("second");
  const std::string data = folder_ / "data";
  const auto run = [&](const std::string& file) {
    return karst({"run", "--embedded", "--for", "1s", "--data", data, "--signing-key", file}).code;
  };
  ASSERT_EQ(run(folder_ / "key"), 0);
  ASSERT_EQ(run(folder_ / "key"), 0);
  ASSERT_EQ(run(folder_ / "second"), 0);
  std::vector<std::string> keys;
  for (const std::string& line : lines_of(karst({"log", "dump", "--data", data}).out)) {
    const Json event = Json::parse(line);
    if (event["type"] == "SigningKeyChanged") keys.push_back(event["payload"]["key"]);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{key, second}));
  const Ended replayed = karst({"replay", "--verify", "--data", data});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
}

// What a log says of its key is what its writer wants to be read.
TEST_F(Audit, AKeyInATrailSaysNoLineOfItsOwn) {
  const std::string data = folder_ / "data";
  std::filesystem::copy(story(), data, std::filesystem::copy_options::recursive);
  std::vector<events::Record> records = records_of(data);
  for (const std::string& key :
       {std::string("x\nproven      signed with the key that was given, all of it"),
        std::string("x\x1b[2J"), std::string(100'000, 'x')}) {
    records.push_back(events::make_record(events::SigningKeyChanged{key}));
    records.back().log_time = records.front().log_time;
    rewrite(data, records);
    std::filesystem::remove_all(data + "/index");
    std::filesystem::remove(data + "/checkpoint");
    const Ended ended = verify({made("trail", {"audit", "export", "--data", data})});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_FALSE(says(ended, "\nproven      signed")) << ended.out;
    EXPECT_FALSE(says(ended, "\x1b")) << ended.out;
    EXPECT_TRUE(says(ended, "not proven  which key the log names: position " +
                                std::to_string(records.size()) + " holds none"))
        << ended.out.substr(0, 3'000);
    records.pop_back();
  }
}

TEST_F(Audit, WhatIsNothingOfOursIsBadInput) {
  write_file(folder_ / "text", "what\n");
  EXPECT_EQ(verify({folder_ / "text"}).code, 2);
  EXPECT_EQ(verify({folder_ / "none"}).code, 2);
  EXPECT_EQ(verify({folder_ / ""}).code, 2) << "a folder without a checkpoint";
  EXPECT_EQ(verify({"--key", "x", folder_ / "text"}).code, 2);
}

}  // namespace
}  // namespace karst::tests
