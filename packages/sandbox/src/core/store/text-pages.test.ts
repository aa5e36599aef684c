import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TextPages } from './text-pages.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'ü€😀', 'x'.repeat(300_000), '€'.repeat(400_000)),
)

it('TextPages returns each stored text until it is removed, whatever its length and writing system', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 20 }), (steps) => {
      const pages = new TextPages()
      const kept = new Map<number, string>()
      for (const [added, removesOne] of steps) {
        const json = JSON.stringify(added)
        const [address = -1] = pages.add([json])
        expect(kept.has(address)).toBe(false)
        kept.set(address, added)
        const [oldest] = kept.keys()
        if (removesOne && oldest !== undefined) {
          pages.remove(oldest)
          kept.delete(oldest)
        }
        for (const [at, wanted] of kept) expect(JSON.parse(pages.read(at)) === wanted).toBe(true)
      }
    }),
    { numRuns: 25 },
  )
})

it('TextPages frees pages whose texts are all removed, and reports when most of the memory is unused', () => {
  const pages = new TextPages()
  const text = 'x'.repeat(10_000)
  const first: number[] = []
  for (let n = 0; n < 4000; n++) first.push(...pages.add([text]))
  expect(pages.isMostlyUnused).toBe(false)
  // One of fifty texts is left on every page.
  for (const [n, address] of first.entries()) if (n % 50 !== 0) pages.remove(address)
  expect(pages.isMostlyUnused).toBe(true)
  for (const [n, address] of first.entries()) if (n % 50 === 0) pages.remove(address)
  expect(pages.isMostlyUnused).toBe(false)
})

it('TextPages adds several texts at once, even more than fit on one page', () => {
  const pages = new TextPages()
  const texts = Array.from({ length: 300 }, (_, n) => `"${String(n).padStart(n * 30, '€')}"`)
  for (const some of [texts.slice(0, 20), texts, []]) {
    const read = pages.add(some).map((address) => JSON.parse(pages.read(address)))
    expect(read).toEqual(some.map((text) => JSON.parse(text)))
  }
})
