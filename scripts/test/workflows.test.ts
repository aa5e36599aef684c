import { describe, expect, it } from 'vitest'
import {
  checkWorkflows,
  findChanged,
  findLockProblems,
  findMissing,
  readProjects,
} from '../check-workflows.mjs'

describe('the GitHub workflows', () => {
  it('call nothing that does not exist', () => {
    expect(checkWorkflows()).toEqual([])
  })

  it('are reported if they call something that does not exist', () => {
    const workflow = [
      'steps:',
      '  - uses: actions/checkout@v4',
      '  - run: npm run lint && npm run nothing',
      '  - run: npm test -- --project mars',
      '  - run: node scripts/nowhere.mjs',
    ].join('\n')
    expect(findMissing(workflow, { scripts: { lint: '' }, projects: ['unit'] })).toEqual([
      'npm run nothing: no such script',
      '--project mars: no such project',
      'node scripts/nowhere.mjs: no such file',
      'actions/checkout@v4: name a commit',
      'no permissions at the top: it would have all',
    ])
  })

  it('can install the locked packages on every platform and from any registry', () => {
    const packages = {
      '': { dependencies: { tool: '^1.0.0' } },
      'packages/a': { dependencies: { tool: '^1.0.0', lost: '^1.0.0' } },
      'node_modules/tool': { optionalDependencies: { 'tool-linux': '1.0.0', 'tool-mac': '1.0.0' } },
      'node_modules/tool-linux': { resolved: 'https://registry.example/tool-linux.tgz' },
      'node_modules/tool/node_modules/own': { dependencies: { 'tool-linux': '1.0.0' } },
    }
    expect(findLockProblems({ packages })).toEqual([
      'packages/a wants lost, which is not there',
      'node_modules/tool wants tool-mac, which is not there',
      'node_modules/tool-linux names a registry',
    ])
    const wanted = {
      '': { dependencies: { tool: '^2.0.0' } },
      'packages/a': packages['packages/a'],
    }
    expect(findChanged({ packages }, (path) => wanted[path as keyof typeof wanted])).toEqual([
      'the root wants other versions: npm install --package-lock-only',
    ])
  })

  it('name every test project', () => {
    expect(readProjects()).toEqual(
      expect.arrayContaining([
        'unit',
        'sandbox',
        'sqlite',
        'slow',
        'postgres',
        'mariadb',
        'chromium',
      ]),
    )
  })
})
