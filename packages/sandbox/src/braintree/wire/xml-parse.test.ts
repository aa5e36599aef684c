import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadRequest } from './errors.ts'
import { renderElement, XmlList, type XmlValue } from './xml.ts'
import { parseXml } from './xml-parse.ts'

const read = (xml: string) => parseXml(Buffer.from(xml))

describe('the parser of XML request bodies', () => {
  it.each([
    ['<a/>', { a: null }],
    ['<a></a>', { a: null }],
    ['<a>\n  </a>', { a: null }],
    ['<a>text</a>', { a: 'text' }],
    ['<a> text </a>', { a: ' text ' }],
    ['<a type="string"></a>', { a: '' }],
    ['<a nil="true"/>', { a: null }],
    ['<a nil="true">text</a>', { a: null }],
    ['<a type="integer">-7</a>', { a: -7 }],
    ['<a type="integer">seven</a>', { a: 'seven' }],
    ['<a type="boolean">true</a>', { a: true }],
    ['<a type="boolean">0</a>', { a: false }],
    ['<a type="datetime">2026-01-31T10:00:00Z</a>', { a: '2026-01-31T10:00:00Z' }],
    ['<a type="decimal">10.00</a>', { a: '10.00' }],
    ['<a type="array"/>', { a: [] }],
    ["<a type='array'><item>x</item><item type='integer'>1</item></a>", { a: ['x', 1] }],
    ['<a-b><last-4>1881</last-4><c_d>e</c_d></a-b>', { a_b: { last_4: '1881', c_d: 'e' } }],
    ['<a><b>1</b><b>2</b></a>', { a: { b: ['1', '2'] } }],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<a>\n <b>c</b>\n</a>\n', { a: { b: 'c' } }],
    ['<a>&lt;&amp;&gt;&quot;&apos;&#233;&#x1F600;</a>', { a: '<&>"\'é😀' }],
    ['\ufeff<a>é</a>', { a: 'é' }],
  ])('reads a body with %s', (xml, value) => {
    expect(read(xml)).toEqual(value)
  })

  it('keeps a field whose name is a property of every JavaScript object', () => {
    const { a } = read('<a><__proto__><b>c</b></__proto__></a>') as { a: object }
    expect(Object.keys(a)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(a)).toBe(Object.prototype)
  })

  it.each([
    ['nothing', ''],
    ['text alone', 'text'],
    ['an element that is not closed', '<a><b></a>'],
    ['one that ends early', '<a>'],
    ['two roots', '<a/><b/>'],
    ['text between elements', '<a>text<b/></a>'],
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['an entity of its own', '<a>&b;</a>'],
    ['an entity that JavaScript has', '<a>&constructor;</a>'],
    ['a lone ampersand', '<a>R&D</a>'],
    ['CDATA', '<a><![CDATA[b]]></a>'],
    ['a comment', '<a><!-- b --></a>'],
    ['an instruction', '<a><?php b ?></a>'],
    ['a namespace', '<a:b/>'],
    ['an attribute twice', '<a type="array" type="integer"/>'],
    ['an attribute without quotes', '<a type=array/>'],
    ['a null character', '<a>&#0;</a>'],
    ['half of a pair', '<a>&#xd800;</a>'],
    ['a number beyond Unicode', '<a>&#x110000;</a>'],
    ['a control character', '<a>\u0001</a>'],
  ])('rejects a body with %s', (_, xml) => {
    expect(() => read(xml)).toThrow(BadRequest)
  })

  it('rejects a body in another encoding', () => {
    expect(() => parseXml(Buffer.from('<a>é</a>', 'latin1'))).toThrow(BadRequest)
  })

  it('rejects a body that is nested too deeply', () => {
    const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`
    expect(() => read(nested(21))).not.toThrow()
    expect(() => read(nested(22))).toThrow(BadRequest)
    expect(() => read(nested(100_000))).toThrow(BadRequest)
  })
})

/** A value of a request: texts that XML allows, numbers, booleans, lists and objects. */
const text = fc
  .string({ unit: 'grapheme', minLength: 1 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to say these
  .filter((value) => !/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/.test(value) && value.trim() !== '')
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/)
const params = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(name, tie('any'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  ),
})).any

function toXmlValue(value: unknown): XmlValue {
  if (Array.isArray(value)) return new XmlList('item', value.map(toXmlValue))
  if (typeof value !== 'object' || value === null) return value as XmlValue
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toXmlValue(part)]))
}

it('the parser of XML request bodies reads every document that the sandbox writes', () => {
  fc.assert(
    fc.property(name, params, (root, value) => {
      expect(read(renderElement(root, toXmlValue(value)))).toEqual({ [root]: value })
    }),
  )
})

it('the parser of XML request bodies accepts or rejects any text, and throws no other errors', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '</',
    '/>',
    '<a',
    'a>',
    '</a>',
    '<a>',
    ' ',
    '=',
    '"',
    "'",
    '&',
    ';',
    '&amp;',
    '&#',
    '!',
    '?',
    '-',
    ']]>',
    'type="array"',
    'nil="true"',
    '<?xml ',
    '<![CDATA[',
    '<!DOCTYPE',
    'é',
    '\u0000',
    'x',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        expect(Object.keys(read(pieces.join('')))).toHaveLength(1)
      } catch (error) {
        expect(error).toBeInstanceOf(BadRequest)
      }
    }),
    { numRuns: 2000 },
  )
})
