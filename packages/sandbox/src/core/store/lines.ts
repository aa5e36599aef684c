import { createReadStream, writeSync } from 'node:fs'

const CHUNK = 1_048_576

/** A line of a file, and where in the file it ends. */
export interface Line {
  readonly text: string
  /** Bytes from the file's start to the next line. */
  readonly end: number
  /** False for a last line that no newline ends. */
  readonly whole: boolean
}

/**
 * The lines of a file of any size, up to a byte. Split at newlines only: `node:readline` also splits at
 * U+2028, which JSON may hold as it is.
 */
export async function* linesOf(
  file: string,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line> {
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

/** Null for what is no JSON. */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns how many bytes that were. */
export function writeLines(descriptor: number, lines: Iterable<string>, chunkSize = CHUNK): number {
  let written = 0
  for (const chunk of chunksOf(lines, chunkSize)) {
    for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at)
    written += chunk.length
  }
  return written
}

/** Lines joined until they are long enough to be worth a write. */
export function* chunksOf(lines: Iterable<string>, size: number): Generator<Buffer> {
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
