import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listPages, prose, ROOT, readPage } from '../../test-support/markdown.ts'

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'examples/README.md',
  ...listPages('packages').filter((page) => /^packages\/\w+\/README\.md$/.test(page)),
  ...listPages('docs'),
]

/**
 * Derives anchors as GitHub does: lower case, no punctuation, dashes for blanks, numbers for
 * repeated headings.
 */
function anchorsOf(markdown: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose(markdown).matchAll(/^#+ +(.+?) *$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** Finds broken links, each with the reason. */
function brokenLinks(page: string, markdown: string): string[] {
  return [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path))
    if (path !== '' && !existsSync(join(ROOT, target))) return [`${page}: ${link}: no such file`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    const text = target === page ? markdown : readPage(target)
    return anchorsOf(text).has(anchor) ? [] : [`${page}: ${link}: no such heading`]
  })
}

describe('links in the documentation', () => {
  it.each(PAGES)('lead to existing files and headings: %s', (page) => {
    expect(brokenLinks(page, readPage(page))).toEqual([])
  })

  it('are reported if their file or heading does not exist', () => {
    const markdown = '# A page\n[a](missing.md) [b](#no-heading) [c](#a-page) [d](README.md#nope)'
    expect(brokenLinks('page.md', markdown)).toEqual([
      'page.md: missing.md: no such file',
      'page.md: #no-heading: no such heading',
      'page.md: README.md#nope: no such heading',
    ])
  })

  it('lead from the list of guides to every guide', () => {
    const index = readPage('docs/guides/README.md')
    const guides = listPages('docs/guides').filter((page) => !page.endsWith('README.md'))
    for (const guide of guides) expect(index).toContain(`(${guide.split('/').at(-1)})`)
  })
})
