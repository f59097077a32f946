#include "providers/aws/mime.h"

#include <algorithm>

#include "providers/aws/text.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kBoundary = "--//";

std::string without_carriage_returns(std::string_view text) {
  std::string out(text);
  out.erase(std::remove(out.begin(), out.end(), '\r'), out.end());
  return out;
}

tl::unexpected<base::Error> broken(const std::string& what) {
  return base::fail(base::Kind::kInvalid, "userData: a broken MIME archive: " + what);
}

// The value of boundary= in the headers; empty: none.
std::string boundary_in(const std::string& headers) {
  const std::size_t at = lower(headers).find("boundary=");
  if (at == std::string::npos) return {};
  std::string rest = headers.substr(at + 9);
  if (rest.starts_with('"')) return rest.substr(1, rest.find('"', 1) - 1);
  return rest.substr(0, rest.find_first_of("; \n"));
}

// Splits at the first empty line; a part may begin with it and have no headers.
MimePart split(const std::string& text) {
  if (text.starts_with('\n')) return {"", text.substr(1)};
  const std::size_t end = text.find("\n\n");
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end), text.substr(end + 2)};
}

}  // namespace

bool is_mime(std::string_view text) {
  text = without_leading_blanks(text);  // as cloud-init and Karpenter read it
  return text.starts_with("MIME-Version:") || text.starts_with("Content-Type:");
}

base::Result<std::vector<MimePart>> read_mime(std::string_view text) {
  const MimePart whole = split(without_carriage_returns(without_leading_blanks(text)));
  const std::string boundary = boundary_in(whole.headers);
  if (boundary.empty()) return broken("no boundary in its Content-Type");
  const std::string line = "\n--" + boundary;
  std::string rest = "\n" + whole.body;
  std::vector<MimePart> parts;
  std::size_t at = rest.find(line);
  while (at != std::string::npos) {
    const std::size_t begin = at + line.size();
    if (rest.substr(begin, 2) == "--") return parts;
    const std::size_t end = rest.find(line, begin);
    if (end == std::string::npos) break;
    if (parts.size() == kMimePartsMax) return broken("more than 64 parts");
    const std::size_t next = rest.find('\n', begin);
    parts.push_back(next >= end ? MimePart() : split(rest.substr(next + 1, end - next - 1)));
    at = end;
  }
  return broken("it does not end with its boundary and \"--\"");
}

base::Result<std::string> write_mime(const std::vector<MimePart>& parts) {
  std::string out = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n";
  for (const MimePart& part : parts) {
    const std::string body = without_carriage_returns(part.body);
    if (body.starts_with(kBoundary) ||
        body.find("\n" + std::string(kBoundary)) != std::string::npos)
      return base::fail(base::Kind::kInvalid,
                        "userData: a line begins with --//, which separates our parts");
    out += std::string(kBoundary) + "\n" + part.headers + "\n\n" + body;
    if (!body.ends_with('\n')) out += '\n';
  }
  return out + std::string(kBoundary) + "--\n";
}

}  // namespace karst::providers::aws
