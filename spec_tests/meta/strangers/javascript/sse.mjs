// The data of server-sent events (WHATWG HTML §9.2.6), for those loops whose fault is elsewhere.

export async function* dataOf(body) {
  let rest = '';
  let data = [];
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const half = rest.endsWith('\r') ? '\r' : ''; // may be the first half of a CRLF
    const lines = (half ? rest.slice(0, -1) : rest).split(/\r\n|\n|\r/);
    rest = lines.pop() + half;
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || !data.length) continue;
      yield data.join('\n');
      data = [];
    }
  }
}
