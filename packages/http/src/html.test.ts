import { expect, it } from 'vitest'
import { escapeHtml, Html, html } from './html.ts'

it('html escapes every inserted text, also in attributes, but not the markup of the template', () => {
  const name = `<b onclick="x('&')">`
  const escaped = '&lt;b onclick=&quot;x(&#39;&amp;&#39;)&quot;&gt;'
  expect(html`<p title="${name}">${name}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`)
  expect(html`${html`<i>${name}</i>`}${new Html('<hr>')}`.text).toBe(`<i>${escaped}</i><hr>`)
  expect(escapeHtml(escaped)).not.toBe(escaped)
})

it('html renders lists one after the other, numbers as text, and nothing for null, undefined and false', () => {
  expect(html`<ul>${['<', [1, html`<li>`], null]}</ul>`.text).toBe('<ul>&lt;1<li></ul>')
  expect(html`[${null}${undefined}${false}${''}${0}]`.text).toBe('[0]')
})

it('html escapes an object that only looks like Html', () => {
  const forged = { text: '<script>' } as unknown as Html
  expect(html`${forged}`.text).not.toContain('<')
})
