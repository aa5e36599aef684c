import { expect, it } from 'vitest'
import { indentXml } from './delivery.ts'

it('a webhook body shown in the control room has each XML element on its own line, and text stays inside its element', () => {
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
