import type { Readable } from 'node:stream'

const NEWLINE = '\n'.charCodeAt(0)

/**
 * Copies text in whole lines. If several processes wrote to the same pipe, the kernel could put a
 * part of a line that is longer than 4 kB into a line of another process.
 */
export function forwardLines(from: Readable, to: { write(lines: Buffer): unknown }): void {
  let rest: Buffer[] = []
  from.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      to.write(Buffer.concat([...rest, chunk.subarray(0, end)]))
      rest = []
    }
    if (end < chunk.length) rest.push(chunk.subarray(end))
  })
  // The last line of a process that was killed may be incomplete.
  from.on('end', () => {
    if (rest.length > 0) to.write(Buffer.concat([...rest, Buffer.from([NEWLINE])]))
  })
}
