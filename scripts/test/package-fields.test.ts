import { describe, expect, it } from 'vitest'
import { commonFields, findProblems } from '../package-fields.mjs'

const root = {
  license: 'MIT',
  engines: { node: '>=20.19' },
  repository: { type: 'git', url: 'git+https://github.com/somebody/else.git' },
}

describe('what packages say about themselves', () => {
  it('is what the root says', () => {
    expect(findProblems()).toEqual([])
  })

  it('names the repository by one address', () => {
    expect(commonFields(root, 'packages/oauth')).toMatchObject({
      repository: { url: root.repository.url, directory: 'packages/oauth' },
      homepage: 'https://github.com/somebody/else/tree/main/packages/oauth#readme',
      bugs: { url: 'https://github.com/somebody/else/issues' },
    })
  })

  it('would be noticed if it were something else', () => {
    expect(findProblems(root)).toContain(
      'packages/oauth: repository differs, run npm run sync:packages',
    )
  })
})
