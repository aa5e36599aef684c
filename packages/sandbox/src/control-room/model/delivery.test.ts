import { expect, it } from 'vitest'
import { indentXml } from './delivery.ts'

it('gives each element a line, and leaves text where it is', () => {
  const xml =
    '<?xml version="1.0"?>\n<notification><kind>check</kind><subject><name nil="true"/><list type="array"></list><text>a  b</text></subject></notification>'
  expect(indentXml(xml)).toBe(
    [
      '<?xml version="1.0"?>',
      '<notification>',
      '  <kind>check</kind>',
      '  <subject>',
      '    <name nil="true"/>',
      '    <list type="array"></list>',
      '    <text>a  b</text>',
      '  </subject>',
      '</notification>',
    ].join('\n'),
  )
})
