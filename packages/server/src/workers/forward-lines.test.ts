import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { forwardLines } from './forward-lines.ts'

it('forwardLines() writes whole lines only, and completes the last one', async () => {
  const from = new PassThrough()
  const written: string[] = []
  forwardLines(from, { write: (lines) => written.push(String(lines)) })
  for (const chunk of ['{"a"', ':1}\n{"b":2}\n{"c', '"', ':"ä"}\n', '\n', '{"d']) from.write(chunk)
  from.end()
  await expect.poll(() => written).toHaveLength(4)
  expect(written).toEqual(['{"a":1}\n{"b":2}\n', '{"c":"ä"}\n', '\n', '{"d\n'])
})
