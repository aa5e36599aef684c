/**
 * Reads the first page of JSON objects before the response begins, so that a failure can still set
 * its status. Returns a body with one object per line. A later failure breaks the connection, so
 * that the caller does not mistake a part for the whole.
 */
export function createLinesBody(
  pages: AsyncIterable<readonly object[]>,
  onCutOff: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  return createTextBody(formatLines(pages), onCutOff)
}

async function* formatLines(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Like `createLinesBody()`, for text in any format. */
export async function createTextBody(
  pieces: AsyncIterable<string>,
  onCutOff: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const reading = pieces[Symbol.asyncIterator]()
  let next = await reading.next()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        if (next.done) return controller.close()
        const text = next.value
        next = await reading.next()
        // An empty piece would end the pulling.
        if (text !== '' || !next.done) controller.enqueue(encoder.encode(text))
        if (next.done) controller.close()
      } catch (error) {
        onCutOff(error)
        controller.error(error)
      }
    },
    async cancel() {
      await reading.return?.(undefined)
    },
  })
}
