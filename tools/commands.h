// The subcommands of `karst`: what each takes, and its function, which returns the process's exit
// code. Parsing is main.cc's; each function is in the file of its name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exports/filter.h"

namespace karst::tools {

enum class Format { kTable, kJson, kYaml };

struct RunOptions {
  std::string data;
  std::string archive;  // folder; empty: none
  std::string retain;   // empty: everything stays
  bool embedded = false;
  std::string kubeconfig;  // empty and not embedded: in the cluster
  std::string cloud = "kwok";
  std::string listen = "127.0.0.1:8080";
  std::string cluster_uid;      // empty: asked of the cluster
  std::int64_t speed = 1;       // embedded: how many times as fast as the clock
  std::int64_t for_millis = 0;  // embedded: of real time; 0: until a signal
  std::uint64_t seed = 0;       // embedded: of the world
  std::string signing_key;      // a file; empty: none, but for embedded
  bool listen_given = false;
  bool shadow = false;
  std::map<std::string, std::string> settings;  // Karpenter's, by variable name, as given by flags
};
int run(const RunOptions& options);

struct ReplayOptions {
  std::string data;
  std::string until;
  bool step = false;
  bool verify = false;
  bool across = false;
};
int replay(const ReplayOptions& options);

struct StateOptions {
  std::string data;
  std::string at;
  std::string table;  // pods, nodes, claims, pools, objects, commands; empty: a summary
  Format format = Format::kTable;
};
int state(const StateOptions& options);

struct ExplainOptions {
  std::string data;
  std::string what;        // command/ID, node/NAME, nodeclaim/NAME, pod/NS/NAME
  bool ruled_out = false;  // of a claim: why it may be of no other instance type
  Format format = Format::kTable;
};
int explain(const ExplainOptions& options);

struct LogOptions {
  std::string data;
  std::uint64_t from = 1;    // dump
  std::uint64_t count = 20;  // tail
  bool follow = false;       // tail
  Format format = Format::kTable;
};
int log_stat(const LogOptions& options);
int log_dump(const LogOptions& options);
int log_tail(const LogOptions& options);

struct LogArchiveOptions {
  std::string data;     // restore: the folder of the log that is made
  std::string archive;  // folder of segments
  std::string until;    // archive: up to there; empty: all that is on stable storage
  Format format = Format::kTable;
};
int log_archive(const LogArchiveOptions& options);
int log_restore(const LogArchiveOptions& options);

struct LogTrimOptions {
  std::string data;
  std::string archive;  // has what goes
  std::string before;   // position or time of the first event that stays; or
  std::string keep;     // how long before the log's end events stay
  bool dry_run = false;
  Format format = Format::kTable;
};
int log_trim(const LogTrimOptions& options);
int log_expire(const LogTrimOptions& options);  // in log_trim.cc

struct AuditExportOptions {
  std::string data;
  std::string format = "jsonl";
  std::string view;  // empty: the format's own
  std::string out;   // empty: stdout
  exports::FilterOptions filter;
  std::vector<std::string> redact;
  std::string signing_key;  // of the head; empty: what --embedded left in `data`, or none
  std::string recorded_as;  // the access; empty: the export, with what was asked for
};
// What the log says that was taken: the command without what is not about the trail.
std::string access_text(const AuditExportOptions& options);
int audit_export(const AuditExportOptions& options);
int audit_export_jsonl(const AuditExportOptions& options);  // in audit.cc
int audit_export_tiles(const AuditExportOptions& options);

struct AuditProofOptions {
  std::string data;
  std::string signing_key;  // as of an export
  std::string position;     // prove: a position or a time
  std::uint64_t from = 0;   // prove: the size of an older tree
  std::string out;          // keygen
  std::string name;         // keygen
};
int audit_checkpoint(const AuditProofOptions& options);
int audit_prove(const AuditProofOptions& options);
int audit_keygen(const AuditProofOptions& options);

struct AuditVerifyOptions {
  std::string file;                // or a folder
  std::optional<std::string> key;  // a verifier key, or a file with one
  std::string since;               // a file with an older checkpoint
};
int audit_verify(const AuditVerifyOptions& options);

struct SolveOptions {
  std::string case_file;           // a problem as JSON; *.jsonl: one a line
  std::vector<std::string> files;  // or manifests: files, folders, "-"
  std::vector<std::string> zones;  // of manifests: where EC2's machines may be
  // Of manifests: Karpenter's settings; empty: its defaults.
  std::string preference_policy;       // Respect, Ignore
  std::string min_values_policy;       // Strict, BestEffort
  std::string reserved_offering_mode;  // Fallback, Strict
  std::string scheduler_config;        // file: default topology spreads
  std::string out;  // of a case: where to, empty for a table; of manifests: table or json
};
int solve(const SolveOptions& options);

struct VersionOptions {
  bool kill_points = false;
  Format format = Format::kTable;
};
int version(const VersionOptions& options);

}  // namespace karst::tools
