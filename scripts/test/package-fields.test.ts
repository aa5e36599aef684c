import { execFileSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../test-support/markdown.ts'
import { commonFields, findProblems } from '../package-fields.mjs'

const root = {
  license: 'MIT',
  engines: { node: '>=20.19' },
  repository: { type: 'git', url: 'git+https://github.com/somebody/else.git' },
}

describe('the common fields of packages', () => {
  it('are equal to those of the root package', () => {
    expect(findProblems()).toEqual([])
  })

  it('contain the same repository URL everywhere', () => {
    expect(commonFields(root, 'packages/oauth')).toMatchObject({
      repository: { url: root.repository.url, directory: 'packages/oauth' },
      homepage: 'https://github.com/somebody/else/tree/main/packages/oauth#readme',
      bugs: { url: 'https://github.com/somebody/else/issues' },
    })
  })

  it('are reported if they differ', () => {
    expect(findProblems(root)).toContain(
      'packages/oauth: repository differs, run npm run sync:packages',
    )
  })
})

describe('the command-line programs of packages', () => {
  it.each(['server', 'sandbox'])(
    'are files of the repository in %s, so that npm links them in a clone that is not built',
    (name) => {
      const folder = `${ROOT}packages/${name}`
      const { bin } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
      const targets = Object.values<string>(bin)
      expect(targets).toHaveLength(1)
      const [target = ''] = targets
      const tracked = execFileSync('git', ['ls-files', target], { cwd: folder, encoding: 'utf8' })
      expect(tracked.trim()).toBe(target.replace('./', ''))
      accessSync(`${folder}/${target}`, constants.X_OK)
    },
  )
})
