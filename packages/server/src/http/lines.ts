/**
 * Reads the first page of JSON objects, so that its failure has a status, and returns a body with
 * one object per line. A later failure breaks the connection: the caller must not take a part for
 * the whole.
 */
export async function linesBody(
  pages: AsyncIterable<readonly object[]>,
  onCutOff: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const reading = pages[Symbol.asyncIterator]()
  let next = await reading.next()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        if (next.done) return controller.close()
        const text = next.value.map((line) => `${JSON.stringify(line)}\n`).join('')
        next = await reading.next()
        // An empty page would end the pulling.
        if (text !== '' || !next.done) controller.enqueue(encoder.encode(text))
        if (next.done) controller.close()
      } catch (error) {
        onCutOff(error)
        controller.error(error)
      }
    },
    async cancel() {
      await reading.return?.()
    },
  })
}
