/** Formulas that move to another cell. */
import { expect, test } from 'bun:test';
import { shiftFormula } from '../../plugins/workbook/xlsx/formula.ts';

const moves: readonly (readonly [formula: string, downAndRight: string])[] = [
  ['A1*2', 'B2*2'],
  ['$A1+B$1+$C$1', '$A2+C$1+$C$1'],
  ['SUM(A1:B2,$C$1:D4)', 'SUM(B2:C3,$C$1:E5)'],
  ['a1+Z9', 'B2+AA10'],
  ['LOG10(A1)+ATAN2(B1,C1)', 'LOG10(B2)+ATAN2(C2,D2)'],
  ['"A1"&B2&"x""A1"', '"A1"&C3&"x""A1"'],
  ["'A1'!B2+Sheet1!C3+'it''s A1'!D4", "'A1'!C3+Sheet1!D4+'it''s A1'!E5"],
  ['Sheet1:Sheet3!A1', 'Sheet1:Sheet3!B2'],
  ['[1]Sheet1!A1+[Book A1.xlsx]S!A1', '[1]Sheet1!B2+[Book A1.xlsx]S!B2'],
  ['SUM(A:A,1:1,$B:C,$2:3)', 'SUM(B:B,2:2,$B:D,$2:4)'],
  ['Table1[[#This Row],[A1]]+Table1[A1]+B1', 'Table1[[#This Row],[A1]]+Table1[A1]+C2'],
  ["T['[A1]+A1&'S 2'!B1", "T['[A1]+B2&'S 2'!C2"],
  ['#REF!+A1+#N/A+#DIV/0!', '#REF!+B2+#N/A+#DIV/0!'],
  ['TRUE+1E5+2.5+1E+5', 'TRUE+1E5+2.5+1E+5'],
  ['TAX2020+ABCD1+XFE1+name.A1+_A1', 'TAY2021+ABCD1+XFE1+name.A1+_A1'],
  ['IF(A1>0,"",-B1%)', 'IF(B2>0,"",-C2%)'],
  ['{1,2;"A1",3}+A1', '{1,2;"A1",3}+B2'],
  ['Umsätze+A1', 'Umsätze+B2'],
  ['XFD1048576', 'A1'],
  ['A1:INDEX(B:B,3)', 'B2:INDEX(C:C,3)'],
];

test.each(moves)('%s moves its relative references alone', (formula, moved) => {
  expect(shiftFormula(formula, 1, 1)).toBe(moved);
});

test('a formula that moves nowhere stays, and one that moves back reads as before', () => {
  for (const [formula] of moves) {
    const upper = formula === 'a1+Z9' ? 'A1+Z9' : formula;
    expect(shiftFormula(upper, 0, 0)).toBe(upper);
    expect(shiftFormula(shiftFormula(upper, 3, 2), -3, -2)).toBe(upper);
  }
});
