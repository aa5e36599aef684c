import { expect, it } from 'vitest'
import { renderElement, XmlCollection, XmlDay, XmlList, XmlSymbol } from './xml.ts'

it.each([
  ['text', '<a-b>text</a-b>'],
  ['', '<a-b></a-b>'],
  ['<&>"', '<a-b>&lt;&amp;&gt;&quot;</a-b>'],
  ['a\u0000\u001fb\tc\n', '<a-b>ab\tc\n</a-b>'],
  ['\ud800😀', '<a-b>\ufffd😀</a-b>'],
  [7, '<a-b type="integer">7</a-b>'],
  [false, '<a-b type="boolean">false</a-b>'],
  [null, '<a-b nil="true"/>'],
  [new Date('2026-01-31T10:00:00.999Z'), '<a-b type="datetime">2026-01-31T10:00:00Z</a-b>'],
  [new XmlDay('2026-01-31'), '<a-b type="date">2026-01-31</a-b>'],
  [new XmlSymbol('plan_id'), '<a-b type="symbol">plan_id</a-b>'],
  [new XmlList('item', []), '<a-b type="array"></a-b>'],
  [
    new XmlList('item', ['x', 1]),
    '<a-b type="array"><item>x</item><item type="integer">1</item></a-b>',
  ],
  [{ last_4: '1881', none: {} }, '<a-b><last-4>1881</last-4><none></none></a-b>'],
  [
    new XmlCollection({ page_size: 50 }, new XmlList('tx', [{ id: 'a' }])),
    '<a-b type="collection"><page-size type="integer">50</page-size><tx><id>a</id></tx></a-b>',
  ],
])(
  'a Braintree response contains the value %o as XML in the notation of Rails',
  (value, expected) => {
    expect(renderElement('a_b', value)).toBe(expected)
  },
)
