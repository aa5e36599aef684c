import { describe, expect, it } from 'vitest'
import { checkWorkflows, findMissing, readProjects } from '../check-workflows.mjs'

describe('the workflows', () => {
  it('call nothing that is missing', () => {
    expect(checkWorkflows()).toEqual([])
  })

  it('would be caught if they did', () => {
    const workflow = [
      'steps:',
      '  - uses: actions/checkout@main',
      '  - run: npm run lint && npm run nothing',
      '  - run: npm test -- --project mars',
      '  - run: node scripts/nowhere.mjs',
    ].join('\n')
    expect(findMissing(workflow, { scripts: { lint: '' }, projects: ['unit'] })).toEqual([
      'npm run nothing: no such script',
      '--project mars: no such project',
      'node scripts/nowhere.mjs: no such file',
      'actions/checkout@main: name a version',
      'no permissions at the top: it would have all',
    ])
  })

  it('know every project of the tests', () => {
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
