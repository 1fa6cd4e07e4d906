import { fixtures } from '../../fixtures.ts';
import { type PlantedFaults, remove, replace, set, spoil } from './spoil.ts';

const wholeList = /^GET \/inventory 200$/;
const [, second] = fixtures.inventory;
const secondEntry = new RegExp(`\\{"petId":${second?.petId},[^}]*\\},`);

/** What can be wrong with the whole list, alone or beside the pages. */
export const listFaults: PlantedFaults = {
  'an entry missing from the whole list': [
    spoil(wholeList, replace(secondEntry, '')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an entry missing from large pages': [
    spoil(/limit=1000 200$/, replace(secondEntry, '')),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'an entry missing from all pages': [
    spoil(/limit=\d+ 200$/, replace(secondEntry, '')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an entry that comes twice': [
    spoil(wholeList, (answer) => {
      const [entry = ''] = secondEntry.exec(answer.text) ?? [];
      answer.text = `[${entry}${answer.text.slice(1)}`;
    }),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'an id rounded in the whole list': [
    spoil(wholeList, replace('9007199254740993', '9007199254740992')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an id in quotes': [
    spoil(wholeList, replace(/"petId":(-?\d+)/g, '"petId":"$1"')),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a list without its end': [
    spoil(wholeList, replace(/,\{[^{]*$/, '')),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a list that breaks off': [
    spoil(wholeList, (answer) => {
      answer.breaksOff = true;
    }),
    'three members and an exact id: GET /inventory answered 200 and broke off (',
  ],
  'a list that never is 304': [
    { ask: ({ headers }) => void delete headers['if-none-match'] },
    'the whole list: is not sent again to who has it: ',
  ],
  'a list with a header that no document has': [
    spoil(wholeList, set('x-powered-by', 'Express')),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a list that always is 304': [
    {
      answer({ headers }, answer) {
        if (headers['if-none-match'] === undefined) return;
        answer.status = 304;
        answer.text = '';
      },
    },
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a lost ETag': [
    spoil(wholeList, remove('etag')),
    'the whole list: is not sent again to who has it: ',
  ],
};
