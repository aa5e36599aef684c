import { describe, expect, it } from 'vitest'
import { closeUnreleased, withVersion } from '../release.mjs'

describe('npm run release', () => {
  it('sets the version of a package, and of our other packages that it depends on', () => {
    const manifest = {
      name: '@tollgate/oauth',
      version: '0.1.0',
      dependencies: { '@tollgate/http': '0.1.0', jose: '^6.0.0' },
      peerDependencies: { '@tollgate/sandbox': '0.1.0', express: '^5.0.0' },
    }
    expect(withVersion(manifest, '0.2.0', ['@tollgate/http', '@tollgate/sandbox'])).toEqual({
      name: '@tollgate/oauth',
      version: '0.2.0',
      dependencies: { '@tollgate/http': '0.2.0', jose: '^6.0.0' },
      peerDependencies: { '@tollgate/sandbox': '0.2.0', express: '^5.0.0' },
    })
  })

  it('moves unreleased entries to a heading with the version and date', () => {
    const changelog = '# Changelog\n\n## Unreleased\n\n- New\n\n## 0.1.0 (2026-01-01)\n\n- Old\n'
    expect(closeUnreleased(changelog, '0.2.0', '2026-12-24')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-12-24)\n\n- New\n\n## 0.1.0 (2026-01-01)\n\n- Old\n',
    )
  })

  it.each([
    ['# Changelog\n', 'no heading'],
    ['# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- Old\n', 'nothing unreleased'],
    ['# Changelog\n\n## Unreleased\n\n- New\n\n## 0.2.0 (2026-01-01)\n', '0.2.0 already'],
  ])('rejects the changelog %j', (changelog, why) => {
    expect(() => closeUnreleased(changelog, '0.2.0', '2026-12-24')).toThrow(why)
  })
})
