import { inflateSync } from 'node:zlib'

/** Extracts the text of one of our PDFs as drawn: from left to right, one line per height. */
export function extractPdfText(pdf: Uint8Array): string {
  const objects = readObjects(pdf)
  const letters = readLetters(objects)
  const drawn: string[] = []
  let height = ''
  for (const { content } of objects.values()) {
    for (const [, block = ''] of content.matchAll(/BT\n([\s\S]*?)\nET/g)) {
      const [, y = ''] = /1 0 0 1 \S+ (\S+) Tm/.exec(block) ?? []
      const [, font = ''] = /\/(F\d+) /.exec(block) ?? []
      const glyphs = [...block.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex]) =>
        splitIntoFours(hex ?? ''),
      )
      drawn.push(y === height ? '' : '\n', ...glyphs.map((id) => letters[font]?.[id] ?? '?'))
      height = y
    }
  }
  return drawn.join('').replaceAll('\u00a0', ' ')
}

interface PdfObject {
  readonly head: string
  readonly content: string
}

function readObjects(pdf: Uint8Array): Map<string, PdfObject> {
  const objects = new Map<string, PdfObject>()
  const text = Buffer.from(pdf).toString('latin1')
  for (const [, id = '', body = ''] of text.matchAll(/(\d+) 0 obj\n([\s\S]*?)endobj/g)) {
    const [head = '', stream] = body.split('stream\n')
    const packed = stream !== undefined && head.includes('/FlateDecode')
    const content = packed ? inflateSync(Buffer.from(stream, 'latin1')).toString('latin1') : ''
    objects.set(id, { head, content })
  }
  return objects
}

/** Maps the glyphs of each font to the letters they stand for. */
function readLetters(objects: Map<string, PdfObject>): Record<string, Record<string, string>> {
  const fonts: Record<string, Record<string, string>> = {}
  for (const { head } of objects.values()) {
    for (const [, name = '', id = ''] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, map = ''] = /ToUnicode (\d+) 0 R/.exec(objects.get(id)?.head ?? '') ?? []
      fonts[name] = readMap(objects.get(map)?.content ?? '')
    }
  }
  return fonts
}

function readMap(content: string): Record<string, string> {
  const letters: Record<string, string> = {}
  for (const [, from = '', list = ''] of content.matchAll(/<(\w+)> <\w+> \[([^\]]*)\]/g)) {
    for (const [index, [, hex]] of [...list.matchAll(/<([^>]*)>/g)].entries()) {
      const codes = splitIntoFours((hex ?? '').replaceAll(' ', '')).map((four) =>
        Number.parseInt(four, 16),
      )
      const id = (Number.parseInt(from, 16) + index).toString(16).padStart(4, '0')
      letters[id] = String.fromCharCode(...codes)
    }
  }
  return letters
}

function splitIntoFours(hex: string): string[] {
  return hex.match(/.{4}/g) ?? []
}
