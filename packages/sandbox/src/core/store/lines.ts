import { createReadStream, writeSync } from 'node:fs'

const CHUNK = 1_048_576

/** A line of a file, with its end position. */
export interface StateLine {
  readonly text: string
  /** Position after the line, in bytes from the start of the file. */
  readonly end: number
  /** Whether the line ends with a newline. `false` for an incomplete last line. */
  readonly whole: boolean
}

/**
 * Reads the lines of a file of any size, optionally up to a byte position. Splits at newlines only:
 * `node:readline` also splits at U+2028, which JSON may contain unescaped.
 */
export async function* readFileLines(
  file: string,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<StateLine> {
  if (until === 0) return
  let waiting: Buffer[] = []
  let end = 0
  for await (const data of createReadStream(file, { highWaterMark: CHUNK, end: until - 1 })) {
    let rest = data as Buffer
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const text = Buffer.concat([...waiting, rest.subarray(0, at)])
      end += text.length + 1
      yield { text: text.toString('utf8'), end, whole: true }
      waiting = []
      rest = rest.subarray(at + 1)
    }
    if (rest.length > 0) waiting.push(rest)
  }
  const text = Buffer.concat(waiting)
  if (text.length > 0) yield { text: text.toString('utf8'), end: end + text.length, whole: false }
}

/** Parses a line as JSON. Returns `null` if the line is not valid JSON. */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Writes lines to an open file. Returns the number of written bytes. */
export function writeLines(descriptor: number, lines: Iterable<string>, chunkSize = CHUNK): number {
  let written = 0
  for (const chunk of joinIntoChunks(lines, chunkSize)) {
    for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at)
    written += chunk.length
  }
  return written
}

/**
 * Joins lines into chunks of at least `size` bytes, so that they can be written with fewer system
 * calls.
 */
export function* joinIntoChunks(lines: Iterable<string>, size: number): Generator<Buffer> {
  let waiting: string[] = []
  let length = 0
  for (const line of lines) {
    waiting.push(line, '\n')
    length += line.length + 1
    if (length < size) continue
    yield Buffer.from(waiting.join(''))
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.from(waiting.join(''))
}
