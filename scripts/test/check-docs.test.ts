import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findUndocumented } from '../check-docs.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-docs-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('npm run check:docs', () => {
  it('reports exactly the public names and members without documentation', () => {
    mkdirSync(join(folder, 'src'))
    writeFileSync(
      join(folder, 'tsconfig.json'),
      '{ "compilerOptions": { "module": "NodeNext", "target": "es2022", "lib": ["es5"], "types": [] } }',
    )
    writeFileSync(
      join(folder, 'src/index.ts'),
      `
/** Said. */
export interface Said {
  /** Said. */
  readonly one: string
  readonly two: string
}
export function unsaid(): void {}
/** Said. */
export class Counted extends Error {
  override readonly name = 'Counted'
  #hidden = 1
  private alsoHidden = this.#hidden
  /** Said. */
  count(): number { return this.alsoHidden }
  reset(): void {}
}
/** Said. */
export type Both = Said & { three: string }
interface NotPublic { four: string }
`,
    )
    const found = findUndocumented(folder, [join(folder, 'src/index.ts')])
    expect(found.map((line) => line.split(' ')[1])).toEqual([
      'unsaid',
      'Said.two',
      'Counted.reset',
      'Both.three',
    ])
  })
})
