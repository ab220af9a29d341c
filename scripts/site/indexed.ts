/** What the search looks through, and what it shows; the page that loads an index names the same. */
export const INDEXED = {
  fields: ['heading', 'title', 'content'],
  storeFields: ['heading', 'title', 'url', 'excerpt'],
  idField: 'url',
}
